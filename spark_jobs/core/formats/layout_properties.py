"""The table properties that define the layout of files, and the form of their values.

No other property is used: some name classes to load, or contain a serialized object
(`parquet.private.read.filter.predicate`). With them, a user who may alter the table could run code with the account of
the jobs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from spark_jobs.core.formats.hadoop_values import is_literal
from spark_jobs.core.messages.warning_codes import WarningCode

#: Tells whether a value has the form of its kind.
Form = Callable[[str], bool]
_LARGEST = (1 << 31) - 1
#: HDFS refuses a file whose blocks are smaller, or are no multiple of the bytes that one checksum covers.
_SMALLEST_BLOCK, _CHECKSUM = 1 << 20, 512
_COLUMNS = re.compile(r"[^\x00-\x1f\x7f]+")


def _integer(least: int, most: int = _LARGEST, multiple: int = 1) -> Form:
    def fits(text: str) -> bool:
        return bool(re.fullmatch(r"-?\d{1,10}", text, re.ASCII)) and (
            least <= int(text) <= most and int(text) % multiple == 0
        )

    return fits


def _fraction(text: str) -> bool:
    return bool(re.fullmatch(r"\d?\.\d{1,18}|[01]", text, re.ASCII)) and 0 <= float(text) <= 1


def _one_of(*words: str) -> Form:
    return lambda text: text in words


def _boolean(text: str) -> bool:
    return text.lower() in ("true", "false")


def _columns(text: str) -> bool:
    return bool(_COLUMNS.fullmatch(text))


#: The properties by their names. Those of Parquet may name a column after `#`.
_PARQUET: Mapping[str, Form] = {
    "block.size": _integer(4096, multiple=_CHECKSUM),
    "page.size": _integer(64),
    "page.row.count.limit": _integer(100),
    "page.size.row.check.min": _integer(1),
    "page.size.row.check.max": _integer(1),
    "page.write-checksum.enabled": _boolean,
    "dictionary.page.size": _integer(64),
    "enable.dictionary": _boolean,
    "enable.bytestreamsplit": _boolean,
    "bloom.filter.enabled": _boolean,
    "bloom.filter.adaptive.enabled": _boolean,
    "bloom.filter.candidates.number": _integer(1, 100),
    "bloom.filter.expected.ndv": _integer(1),
    "bloom.filter.fpp": lambda text: _fraction(text) and 0 < float(text) < 1,
    "bloom.filter.max.bytes": _integer(32, 128 << 20),
    "writer.version": _one_of("v1", "v2", "PARQUET_1_0", "PARQUET_2_0"),
    "writer.max-padding": _integer(0),
    "columnindex.truncate.length": _integer(1),
    "statistics.truncate.length": _integer(1),
    "compression.codec.zstd.level": _integer(-131072, 22),
}
_ORC: Mapping[str, Form] = {
    "stripe.size": _integer(4096),
    "stripe.row.count": _integer(1000),
    "block.size": _integer(_SMALLEST_BLOCK, multiple=_CHECKSUM),
    "block.padding": _boolean,
    # ORC's writer refuses a smaller stride; with 0 it writes no indexes.
    "row.index.stride": lambda text: text == "0" or _integer(1000)(text),
    "create.index": _boolean,
    "bloom.filter.columns": _columns,
    "bloom.filter.fpp": lambda text: _fraction(text) and 0 < float(text) < 1,
    "bloom.filter.write.version": _one_of("original", "utf8"),
    # The length of a chunk has 23 bits.
    "compress.size": _integer(1024, (1 << 23) - 1),
    "dictionary.key.threshold": _fraction,
    "encoding.strategy": _one_of("SPEED", "COMPRESSION"),
    "compression.strategy": _one_of("SPEED", "COMPRESSION"),
    "write.format": _one_of("0.11", "0.12"),
    "direct.encoding.columns": _columns,
}
_FORMS = {
    **{f"parquet.{name}": form for name, form in _PARQUET.items()},
    **{f"orc.{name}": form for name, form in _ORC.items()},
}


def layout_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of the layout whose values have the form of their kind, without blanks around them."""
    # guard: layout_properties_only
    return {key: value.strip() for key, value in properties.items() if _fits(key, value)}


def ignored_properties(file_format: str, properties: Mapping[str, str]) -> list[str]:
    """Return a warning for each property of the layout of a format that is not used because of its value."""
    own = {key: value for key, value in sorted(properties.items()) if key.startswith(f"{file_format}.")}
    return [_warning(key) for key, value in own.items() if _form(key) and not _fits(key, value)]


def _fits(key: str, value: str) -> bool:
    form = _form(key)
    # guard: layout_values_checked
    return form is not None and is_literal(key) and is_literal(value) and form(value.strip())


def _form(key: str) -> Form | None:
    name = key.partition("#")[0]
    return _FORMS.get(name) if name == key or key.startswith("parquet.") else None


def _warning(key: str) -> str:
    return WarningCode.LAYOUT_PROPERTY_IGNORED.text(
        f"the table property {key} has no value that its writer takes; the files are written without it. Correct it,"
        " or remove it with ALTER TABLE ... UNSET TBLPROPERTIES"
    )
