"""What the footers of a unit's files say, and what a faithful rewrite must keep. Pure; the reading is
`adapters/spark/formats`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spark_jobs.core import struct_types
from spark_jobs.core.encoding import Calendar
from spark_jobs.core.errors import Refusal, VerificationFailed
from spark_jobs.core.formats import FORMATS
from spark_jobs.core.refusals import RefusalCode

#: Physical leaves (and groups) of a file: lower-cased dotted path -> type, without nullability.
Leaves = Mapping[str, str]

#: What writers note in a footer of how their dates and timestamps are meant.
_MEANINGS = re.compile(
    r"org\.apache\.spark\..*|writer\.(time\.zone|date\.proleptic|zone\.conversion\.legacy)\Z"
)
_SPARK_VERSION = "org.apache.spark.version"
#: The first that counts days before 1582 as the proleptic Gregorian calendar does.
_PROLEPTIC_SPARK = 3
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
#: Types that stand in Spark's own note alone: to the file, they are plain numbers or structs.
_NOTED_TYPES = re.compile(r'"type":"(interval [^"]*|udt)"')
_TEMPORAL = re.compile(r"(repeated )?(int96\b|.*\((DATE|TIMESTAMP)|timestamp|date)")


@dataclass(frozen=True)
class Footer:
    """One file's footer, or what its head says; `rows` is None in formats that do not count them.

    `codecs` maps codec -> compressed bytes; `writer` holds the writer's key-value metadata. `schema` is the file's own,
    to the letter; `struct` is it as Spark reads it, in JSON, or None where Spark cannot, and then `problem` says why.
    `row_group` is the size in bytes of the largest one in a file of several, else 0; `blooms` are the columns, as
    dotted paths, that have a Bloom filter everywhere. Of ORC, `layout` holds all that files must have in common whose
    stripes are put into one, and `zones` are the time zones in which the stripes hold local times.
    """

    name: str
    rows: int | None
    codecs: Mapping[str, int]
    leaves: Leaves
    writer: Mapping[str, str]
    schema: str = ""
    struct: str | None = None
    problem: str | None = None
    created_by: str = ""
    row_group: int = 0
    blooms: frozenset[str] = frozenset()
    layout: str = ""
    zones: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Profile:
    """How a unit's files are written: what the rewrite has to mirror.

    `struct` is the union of their columns as Spark reads them, or None where Spark cannot read them all, for the reason
    `problem`. `schemas` are the different schemas to the letter. `meant` says that the writers noted how the dates and
    timestamps in the files are meant: copied without that note, they would mean something else. `calendar` is how
    ancient ones are counted, and `zone` where, if Spark wrote them so that it matters. `by_spark`: Spark 3 or later
    wrote them all. `mergeable`: the stripes of all files fit into one; `zones` are those of their local times.
    """

    rows: int | None
    codec: str
    leaves: Leaves
    uniform: bool
    struct: str | None = None
    problem: str | None = None
    schemas: tuple[str, ...] = ()
    meant: bool = False
    calendar: Calendar = Calendar.UNKNOWN
    int96_calendar: Calendar = Calendar.UNKNOWN
    zone: str | None = None
    row_group: int = 0
    blooms: frozenset[str] = frozenset()
    by_spark: bool = False
    mergeable: bool = False
    zones: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = field(default_factory=tuple)


def profile(
    footers: Sequence[Footer], declared_codec: str | None, file_format: str, columns: Iterable[str] = ()
) -> Profile:
    """Reconciles all footers of a unit; raises Refusal where one schema cannot hold them all. `columns` are the
    metastore's, in their order."""
    leaves = _union(footers)
    _check_int96(footers)
    _check_noted_types(footers)
    codec, warnings = _codec(footers, declared_codec, file_format)
    problem = next((footer.problem for footer in footers if footer.problem), None)
    structs = dict.fromkeys(footer.struct for footer in footers if footer.struct)
    return Profile(
        rows=_rows(footers),
        codec=codec,
        leaves=leaves,
        uniform=len({tuple(f.leaves.items()) for f in footers}) == 1,
        struct=struct_types.union(structs, columns) if structs and not problem else None,
        problem=problem,
        schemas=tuple(dict.fromkeys(footer.schema for footer in footers)),
        meant=_temporal(leaves) and any(_MEANINGS.match(key) for footer in footers for key in footer.writer),
        calendar=_calendar(footers, "org.apache.spark.legacyDateTime"),
        int96_calendar=_calendar(footers, "org.apache.spark.legacyINT96"),
        zone=_zone(footers),
        row_group=max(footer.row_group for footer in footers),
        blooms=frozenset.intersection(*(footer.blooms for footer in footers)),
        by_spark=all(_spark_version(footer) >= _PROLEPTIC_SPARK for footer in footers),
        mergeable=len({footer.layout for footer in footers}) == 1 and bool(footers[0].layout),
        zones=frozenset.union(*(footer.zones for footer in footers)),
        warnings=warnings,
    )


def _rows(footers: Iterable[Footer]) -> int | None:
    counts = [footer.rows for footer in footers]
    return None if None in counts else sum(count for count in counts if count is not None)


def _calendar(footers: Sequence[Footer], legacy_mark: str) -> Calendar:
    """By the marks that Spark 3 and later leave in footers (`DataSourceUtils.datetimeRebaseSpec`); Arrow knows no other
    calendar than the proleptic one. Files that disagree, or say nothing, are read only where it makes no difference."""
    found = {_calendar_of(footer, legacy_mark) for footer in footers}
    if len(found) != 1 or (found == {Calendar.HYBRID} and _zone(footers) is None):
        return Calendar.UNKNOWN
    return found.pop()


def _calendar_of(footer: Footer, legacy_mark: str) -> Calendar:
    if _SPARK_VERSION not in footer.writer:
        return Calendar.PROLEPTIC if "arrow" in footer.created_by else Calendar.UNKNOWN
    if legacy_mark in footer.writer:
        return Calendar.HYBRID
    return Calendar.PROLEPTIC if _spark_version(footer) >= _PROLEPTIC_SPARK else Calendar.UNKNOWN


def _spark_version(footer: Footer) -> int:
    """The major version of the Spark that wrote a file; 0 for any other writer."""
    found = re.match(r"\d+", footer.writer.get(_SPARK_VERSION, ""))
    return int(found[0]) if found else 0


def _zone(footers: Sequence[Footer]) -> str | None:
    zones = {footer.writer.get("org.apache.spark.timeZone") for footer in footers}
    return zones.pop() if len(zones) == 1 else None


def _temporal(leaves: Leaves) -> bool:
    return any(_TEMPORAL.match(kind) for kind in leaves.values())


def _union(footers: Iterable[Footer]) -> dict[str, str]:
    union: dict[str, tuple[str, str]] = {}
    for footer in footers:
        for path, kind in footer.leaves.items():
            before, where = union.setdefault(path, (kind, footer.name))
            if before != kind:  # guard: one_type_per_column
                raise Refusal(
                    RefusalCode.SCHEMA_CONFLICT,
                    f"column '{path}' is {before} in {where} and {kind} in {footer.name}",
                )
    return {path: kind for path, (kind, _) in union.items()}


def _check_int96(footers: Iterable[Footer]) -> None:
    """Other writers' INT96 may hold nanoseconds, or local time without saying so; Spark would change them silently."""
    for footer in footers:
        # guard: int96_writer
        if any("int96" in kind for kind in footer.leaves.values()) and _SPARK_VERSION not in footer.writer:
            raise Refusal(
                RefusalCode.UNKNOWN_INT96_WRITER,
                f"{footer.name} holds INT96 timestamps that Spark did not write",
            )


def _check_noted_types(footers: Iterable[Footer]) -> None:
    for footer in footers:
        found = _NOTED_TYPES.search(footer.writer.get(_SPARK_SCHEMA, ""))
        if found:
            raise Refusal(
                RefusalCode.TYPE,
                f"{footer.name} holds a column of Spark's type {found[1]}, which stands in a note of Spark's alone",
            )


def _codec(footers: Iterable[Footer], declared: str | None, file_format: str) -> tuple[str, tuple[str, ...]]:
    """The declared codec, or the one that most bytes have; never the session's default."""
    sizes: Counter[str] = Counter()
    for footer in footers:
        sizes.update(footer.codecs)
    seen = [(_codec_name(codec, file_format), size) for codec, size in sizes.most_common()]
    if declared:
        declared = declared.lower()
        others = [codec for codec, _ in seen if codec != declared]
        warning = f"the table declares {declared}, its files are {', '.join(others)} too; the declared codec is used"
        return declared, ((warning,) if others else ())
    mixed = f"files of several codecs ({', '.join(c for c, _ in seen)}); the one with most bytes is used"
    nothing = FORMATS[file_format].no_codec
    return (seen[0][0] if seen else nothing), ((mixed,) if len(seen) > 1 else ())  # guard: codec_of_files


def _codec_name(codec: str, file_format: str) -> str:
    """As Spark's writers take it; formats of Hadoop's own have classes for names."""
    return codec if FORMATS[file_format].codec_classes else codec.lower()


def check_written(before: Profile, written: Sequence[Footer]) -> None:
    """What was written must have as many rows and the same physical types as what was read."""
    rows = _rows(written)
    if rows != before.rows:  # guard: rows_compared
        raise VerificationFailed(f"{before.rows} rows were read and {rows} written")
    after: dict[str, str] = {}
    for footer in written:
        after.update(footer.leaves)
    for path in sorted(before.leaves.keys() | after.keys()):
        was, now = before.leaves.get(path, "absent"), after.get(path, "absent")
        if was != now:  # guard: types_compared
            raise Refusal(RefusalCode.TYPE, f"column '{path}' is {was}, and would be rewritten as {now}")
