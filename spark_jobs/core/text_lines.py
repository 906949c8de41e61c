"""Text files are compacted line by line: which properties of a table make their lines more, or less, than rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

#: Encodings in which a line feed is the byte 0x0A, and no other character holds that byte.
_ASCII_COMPATIBLE = re.compile(
    r"utf-?8|us-ascii|iso-8859-\d+|windows-125\d|gbk|gb18030|euc-\w+", re.IGNORECASE
)


def check_lines(sources: Sequence[Mapping[str, str]], what: str) -> None:
    """Raise Refusal where files have header or footer lines, or lines end elsewhere than at a line feed."""
    for key in ("skip.header.line.count", "skip.footer.line.count"):
        for source in sources:
            if source.get(key, "0").strip() != "0":
                raise Refusal(
                    RefusalCode.HEADER,
                    f"each file of {what} has lines that are no rows ({key}={source[key]})",
                )
    known = {key: value for source in sources for key, value in source.items()}
    encoding, delimiter = known.get("serialization.encoding", "utf-8"), known.get("line.delim", "\n")
    if (
        not _ASCII_COMPATIBLE.match(encoding)
        or delimiter not in ("\n", "10")
        or "textinputformat.record.delimiter" in known
    ):
        raise Refusal(
            RefusalCode.ENCODING, f"the lines of {what} are not plain ({encoding}, delimiter {delimiter!r})"
        )
