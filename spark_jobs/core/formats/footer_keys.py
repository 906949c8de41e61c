"""The keys in the metadata of footers: which of them say how values are meant, and which of them readers may miss.

Neither Spark nor a copy record by record can write other keys than its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Physical types of dates and timestamps, in Parquet and ORC.
_TEMPORAL = re.compile(r"(repeated )?(int96\b|.*\((DATE|TIMESTAMP)|timestamp|date)")
_INT96 = re.compile(r"(repeated )?int96\b")
_SPARK = "org.apache.spark."
#: Hive reads them for INT96 only (`ETypeConverter`): it stores all other timestamps without a time zone.
_OF_INT96 = ("writer.time.zone", "writer.zone.conversion.legacy")
#: Hive 4 notes that days before 1582 are in the proleptic calendar. Without the key it takes them for those of the
#: hybrid calendar, as with the value `false`.
_PROLEPTIC = "writer.date.proleptic"
#: Keys that no reader needs: the schemas of pandas and Arrow repeat the file's, and the others name the writer.
_NOT_NEEDED = re.compile(
    r"org\.apache\.spark\..*|pandas|ARROW:schema|writer\.(time\.zone|zone\.conversion\.legacy|date\.proleptic"
    r"|model\.name)\Z"
)
#: The most keys that a warning names.
_NAMED = 10


def has_interpretation_keys(leaves: Mapping[str, str], writer: Mapping[str, str]) -> bool:
    """Tell whether a footer notes how the dates and timestamps of these types must be interpreted.

    Copied without the note, readers would take old ones for others.
    """
    if not any(_TEMPORAL.match(kind) for kind in leaves.values()):
        return False
    # guard: noted_calendar
    if any(key.startswith(_SPARK) for key in writer) or writer.get(_PROLEPTIC, "false") != "false":
        return True
    return any(key in writer for key in _OF_INT96) and any(_INT96.match(kind) for kind in leaves.values())


def common(writers: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """Return the keys of footers with their values if all footers have the same; else None."""
    first, *others = (dict(writer) for writer in writers)
    return first if all(other == first for other in others) else None


def unkept(writers: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the keys of all footers that readers may need, sorted."""
    keys = {key for writer in writers for key in writer}
    return tuple(sorted(key for key in keys if not _NOT_NEEDED.match(key)))


def warning(keys: Iterable[str]) -> str:
    """Return what a report says of keys that the rewritten files lack."""
    known = list(keys)
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return (
        f"the footers have the keys {', '.join(known[:_NAMED])}{more}, which the rewritten files will not have; readers"
        " by Avro, Thrift or Protocol Buffers may need them, the rows are the same"
    )
