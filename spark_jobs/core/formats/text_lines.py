"""The check that each line of a text table's files is one row, because text files are compacted line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: The numbers of the code pages that extend ASCII. Other numbers are EBCDIC.
_CODE_PAGES = "437|737|775|85[02578]|86[0-689]|874|93[26]|94[239]|950|125[0-8]"
#: Encodings in which a line feed is the byte 0x0A, and no other character contains that byte, by the names that Java
#: accepts. The second bytes of the East Asian ones are 0x30 and above.
_ASCII_COMPATIBLE = re.compile(
    rf"utf-?8|(us-)?ascii|iso[-_]?8859[-_]\d+|latin-?\d|windows-(31j|{_CODE_PAGES})|(cp|ms|ibm)({_CODE_PAGES})"
    r"|koi8-?[ru]|tis-?620|gbk|gb2312|gb18030|big5(-hkscs)?|shift[-_]?jis|sjis|euc[-_]?\w+",
    re.IGNORECASE,
)
#: The bytes that end a record, in Hadoop's input format.
_DELIMITER = "textinputformat.record.delimiter"
#: Settings of a table by which its readers choose the codecs of its files.
_CODECS = ("io.compression.codecs", "io.compress.passthrough.extension")


def check_lines(sources: Sequence[Mapping[str, str]], what: str) -> None:
    """Raise Refusal if files have header or footer lines, codecs of their own, or lines that do not end at line feeds.

    Args:
        sources: the settings of the cluster, the properties of the table, its SerDe and the partition.
        what: the table or partition, for the message.
    """
    for key in ("skip.header.line.count", "skip.footer.line.count"):
        for source in sources:
            if source.get(key, "0").strip() != "0":
                raise Refusal(
                    RefusalCode.HEADER,
                    f"each file of {what} has lines that are not rows ({key}={source[key]})",
                )
    for key in _CODECS:
        for source in sources:
            if source.get(key, "").strip():  # guard: codecs_of_the_table
                raise Refusal(
                    RefusalCode.CODEC,
                    f"{what} names codecs of its own ({key}={source[key]}): its readers may decode other files than"
                    " those that this job does. Name them in the cluster's configuration instead",
                )
    given = [item for source in sources for item in source.items() if item != (_DELIMITER, "\n")]
    unsupported = _unsupported(dict(given))
    if unsupported:
        raise Refusal(
            RefusalCode.ENCODING,
            f"the lines of {what} do not end at line feeds, or its encoding is not ASCII-compatible"
            f" ({', '.join(unsupported)})",
        )


def _unsupported(properties: Mapping[str, str]) -> list[str]:
    """Return the properties by which lines end elsewhere, or a line feed is not the byte 10."""
    keys = []
    if not _ASCII_COMPATIBLE.fullmatch(properties.get("serialization.encoding", "utf-8").strip()):
        keys.append("serialization.encoding")
    if properties.get("line.delim", "\n") not in ("\n", "10"):
        keys.append("line.delim")
    if _DELIMITER in properties:
        keys.append(_DELIMITER)
    return [f"{key}={properties[key]!r}" for key in keys]
