"""What the footers of a unit's files say, and what a faithful rewrite must keep. Pure; the reading is
`shell/footers.py`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spark_jobs.core import struct_types
from spark_jobs.core.encoding import Calendar
from spark_jobs.core.errors import Refusal, VerificationFailed

#: Physical leaves (and groups) of a file: lower-cased dotted path -> type, without nullability.
Leaves = Mapping[str, str]

#: Parquet's names of codecs -> Spark's.
_PARQUET_CODECS = {"LZ4_RAW": "lz4raw"}
_ORC_CODECS = {"NONE": "none"}
#: What writers note in a footer of how their dates and timestamps are meant.
_MEANINGS = re.compile(
    r"org\.apache\.spark\..*|writer\.(time\.zone|date\.proleptic|zone\.conversion\.legacy)\Z"
)
_SPARK_VERSION = "org.apache.spark.version"
_TEMPORAL = re.compile(r"(repeated )?(int96\b|.*\((DATE|TIMESTAMP)|timestamp|date)")


@dataclass(frozen=True)
class Footer:
    """One file's footer. `codecs` maps codec -> compressed bytes; `writer` holds the writer's key-value metadata.

    `schema` is the file's own, to the letter; `struct` is it as Spark reads it, in JSON, or None where Spark cannot,
    and then `problem` says why.
    """

    name: str
    rows: int
    codecs: Mapping[str, int]
    leaves: Leaves
    writer: Mapping[str, str]
    schema: str = ""
    struct: str | None = None
    problem: str | None = None
    created_by: str = ""


@dataclass(frozen=True)
class Profile:
    """How a unit's files are written: what the rewrite has to mirror.

    `struct` is the union of their columns as Spark reads them, or None where Spark cannot read them all, for the reason
    `problem`. `schemas` are the different schemas to the letter. `meant` says that the writers noted how the dates and
    timestamps in the files are meant: copied without that note, they would mean something else. `calendar` is how
    ancient ones are counted, and `zone` where, if Spark wrote them so that it matters.
    """

    rows: int
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
    warnings: tuple[str, ...] = field(default_factory=tuple)

    @property
    def int96(self) -> bool:
        return any("int96" in kind for kind in self.leaves.values())


def profile(
    footers: Sequence[Footer], declared_codec: str | None, orc: bool, columns: Iterable[str] = ()
) -> Profile:
    """Reconciles all footers of a unit; raises Refusal where one schema cannot hold them all. `columns` are the
    metastore's, in their order."""
    leaves = _union(footers)
    _check_int96(footers)
    codec, warnings = _codec(footers, declared_codec, orc)
    problem = next((footer.problem for footer in footers if footer.problem), None)
    structs = dict.fromkeys(footer.struct for footer in footers if footer.struct)
    return Profile(
        rows=sum(f.rows for f in footers),
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
        warnings=warnings,
    )


def _calendar(footers: Sequence[Footer], legacy_mark: str) -> Calendar:
    """By the marks that Spark 3 and later leave in footers (`DataSourceUtils.datetimeRebaseSpec`); Arrow knows no other
    calendar than the proleptic one. Files that disagree, or say nothing, are read only where it makes no difference."""
    found = {_calendar_of(footer, legacy_mark) for footer in footers}
    if len(found) != 1 or (found == {Calendar.HYBRID} and _zone(footers) is None):
        return Calendar.UNKNOWN
    return found.pop()


def _calendar_of(footer: Footer, legacy_mark: str) -> Calendar:
    version = footer.writer.get(_SPARK_VERSION)
    if version is None:
        return Calendar.PROLEPTIC if "arrow" in footer.created_by else Calendar.UNKNOWN
    if legacy_mark in footer.writer:
        return Calendar.HYBRID
    return Calendar.PROLEPTIC if int(version.split(".")[0]) >= 3 else Calendar.UNKNOWN


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
            if before != kind:
                raise Refusal(
                    "SCHEMA_CONFLICT", f"column '{path}' is {before} in {where} and {kind} in {footer.name}"
                )
    return {path: kind for path, (kind, _) in union.items()}


def _check_int96(footers: Iterable[Footer]) -> None:
    """Other writers' INT96 may hold nanoseconds, or local time without saying so; Spark would change them silently."""
    for footer in footers:
        if any("int96" in kind for kind in footer.leaves.values()) and _SPARK_VERSION not in footer.writer:
            raise Refusal(
                "UNKNOWN_INT96_WRITER", f"{footer.name} holds INT96 timestamps that Spark did not write"
            )


def _codec(footers: Iterable[Footer], declared: str | None, orc: bool) -> tuple[str, tuple[str, ...]]:
    """The declared codec, or the one that most bytes have; never the session's default."""
    sizes: Counter[str] = Counter()
    for footer in footers:
        sizes.update(footer.codecs)
    names = _ORC_CODECS if orc else _PARQUET_CODECS
    seen = [(names.get(codec, codec.lower()), size) for codec, size in sizes.most_common()]
    if declared:
        declared = declared.lower()
        others = [codec for codec, _ in seen if codec != declared]
        warning = f"the table declares {declared}, its files are {', '.join(others)} too; the declared codec is used"
        return declared, ((warning,) if others else ())
    mixed = f"files of several codecs ({', '.join(c for c, _ in seen)}); the one with most bytes is used"
    return (seen[0][0] if seen else "none" if orc else "uncompressed"), ((mixed,) if len(seen) > 1 else ())


def check_written(before: Profile, written: Sequence[Footer]) -> None:
    """What was written must have as many rows and the same physical types as what was read."""
    rows = sum(f.rows for f in written)
    if rows != before.rows:
        raise VerificationFailed(f"{before.rows} rows were read and {rows} written")
    after: dict[str, str] = {}
    for footer in written:
        after.update(footer.leaves)
    for path in sorted(before.leaves.keys() | after.keys()):
        was, now = before.leaves.get(path, "absent"), after.get(path, "absent")
        if was != now:
            raise Refusal("TYPE", f"column '{path}' is {was}, and would be rewritten as {now}")
