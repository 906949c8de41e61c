"""The footers of a unit's files, and the properties that a rewrite must keep.

Nothing is read here: `adapters/spark/formats` reads the footers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spark_jobs.core.formats import avro_metadata, footer_keys, leaf_statistics, stripes, struct_types
from spark_jobs.core.formats.codec_choice import chosen_codec, codec_name
from spark_jobs.core.formats.encoding import Calendar
from spark_jobs.core.formats.leaf_statistics import FileStatistics
from spark_jobs.core.formats.stripes import Stripes
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: Physical leaves (and groups) of a file: lower-cased dotted path -> type, without nullability.
Leaves = Mapping[str, str]

_SPARK_VERSION = "org.apache.spark.version"
#: The first version that uses the proleptic Gregorian calendar for days before 1582.
_PROLEPTIC_SPARK = 3
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
#: Types that only Spark's own metadata has. In the file's schema they are plain numbers or structs.
_SPARK_ONLY_TYPES = re.compile(r'"type":"(interval [^"]*|udt)"')


@dataclass(frozen=True)
class Footer:
    """The footer of one file, or its header in formats without a footer; or what several files have in common.

    Attributes:
        name: the name of the file; the first one of several.
        rows: the number of rows; None in formats that do not count them.
        codecs: compressed bytes by codec.
        leaves: the physical types.
        writer: the key-value metadata of the writer; for Avro, the attributes of the schema that no copy carries.
        schema: the file's own schema, as its exact text.
        struct: the schema as Spark reads it, in JSON; None if Spark cannot read it.
        problem: why Spark cannot read the schema.
        created_by: the writer's name and version.
        row_group: the size in bytes of the largest row group; 0 if the file has only one.
        blooms: the columns, as dotted paths, that have a Bloom filter in all row groups.
        stripes: for ORC, what a merge of the stripes needs to know.
        zones: for ORC, the time zones of the local timestamps in the stripes.
        statistics: the exact figures of each leaf; None in formats that have none.
        bounded_by_nan: for ORC, the columns whose minimum and maximum are NaN in the statistics of a stripe.
        metadata: for Avro, the file's own metadata, which a copy carries.
        header: for Avro and sequence files, what files must have in common to be written into one file.
        not_utf8: for text, why its bytes have another encoding than UTF-8; None if they are UTF-8.
        unended: for text without a codec, the number of files whose last line has no line feed; None if not known.
        others: the names of the other files. Rows, bytes, the largest row group and the figures are those of all files.
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
    stripes: Stripes | None = None
    zones: frozenset[str] = frozenset()
    statistics: FileStatistics | None = None
    bounded_by_nan: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    header: str = ""
    not_utf8: str | None = None
    unended: int | None = None
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.others)


@dataclass(frozen=True)
class Profile:
    """The properties of a unit's files that the rewrite must reproduce.

    Attributes:
        rows: the number of rows; None in formats that do not count them.
        codec: the codec to write with.
        leaves: the physical types of all files.
        uniform: all files have the same physical types.
        struct: the union of the columns as Spark reads them, in JSON; None if Spark cannot read all files.
        problem: why Spark cannot read them.
        schemas: the distinct schemas, as their exact texts.
        meant: the writers noted how the dates and timestamps in the files must be interpreted. Copied without that
            note, the values would be interpreted differently.
        unkept: the keys in the metadata of footers that only a merge of stripes keeps, and that readers may need.
        calendar: the calendar of old dates and timestamps.
        int96_calendar: the calendar of INT96 timestamps.
        zone: the time zone of Spark's session that wrote the files; None if it is unknown or not the same for all.
        row_group: the size in bytes of the largest row group; 0 if no file has several.
        blooms: the columns, as dotted paths, that have a Bloom filter in all files.
        by_spark: Spark 3 or later wrote all files.
        stripes: for ORC, whether and how the stripes of all files can be merged into one file.
        zones: the time zones of the local timestamps in the stripes.
        statistics: the figures of each leaf over all files; a figure is None if a file lacks it.
        metadata: for Avro, the metadata of the written files.
        unended: for text without a codec, the number of files whose last line has no line feed; None if not known.
        warnings: warnings for the report.
        codecs: all codecs of the files.
        writer: the metadata of all footers; None if they differ.
    """

    rows: int | None
    codec: str
    leaves: Leaves
    uniform: bool
    struct: str | None = None
    problem: str | None = None
    schemas: tuple[str, ...] = ()
    has_interpretation_keys: bool = False
    unkept: tuple[str, ...] = ()
    calendar: Calendar = Calendar.UNKNOWN
    int96_calendar: Calendar = Calendar.UNKNOWN
    zone: str | None = None
    row_group: int = 0
    blooms: frozenset[str] = frozenset()
    by_spark: bool = False
    stripes: Stripes | None = None
    zones: frozenset[str] = frozenset()
    statistics: FileStatistics = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    unended: int | None = None
    warnings: tuple[str, ...] = field(default_factory=tuple)
    codecs: tuple[str, ...] = ()
    writer: Mapping[str, str] | None = None


def profile(
    footers: Sequence[Footer], declared_codec: str | None, file_format: str, columns: Iterable[str] = ()
) -> Profile:
    """Combine the footers of all files of a unit.

    Args:
        columns: the names of the metastore's columns, in their order.

    Raises:
        Refusal: the files cannot be written with one schema, or hold values that a rewrite could change.
    """
    leaves = _union(footers)
    _check_int96(footers)
    _check_spark_only_types(footers)
    seen = _codecs(footers, file_format)
    codec, warnings = chosen_codec(seen, declared_codec, file_format)
    problem = next((footer.problem for footer in footers if footer.problem), None)
    structs = dict.fromkeys(footer.struct for footer in footers if footer.struct)
    return Profile(
        rows=rows_of(footers),
        codec=codec,
        leaves=leaves,
        uniform=len({tuple(f.leaves.items()) for f in footers}) == 1,
        struct=struct_types.union(structs, columns) if structs and not problem else None,
        problem=problem,
        schemas=tuple(dict.fromkeys(footer.schema for footer in footers)),
        has_interpretation_keys=any(
            footer_keys.has_interpretation_keys(leaves, footer.writer) for footer in footers
        ),
        unkept=footer_keys.unkept(footer.writer for footer in footers),
        calendar=_calendar(footers, "org.apache.spark.legacyDateTime"),
        int96_calendar=_calendar(footers, "org.apache.spark.legacyINT96"),
        zone=_zone(footers),
        row_group=max(footer.row_group for footer in footers),
        blooms=frozenset.intersection(*(footer.blooms for footer in footers)),
        by_spark=all(_spark_version(footer) >= _PROLEPTIC_SPARK for footer in footers),
        stripes=stripes.united([(footer.name, footer.stripes) for footer in footers]),
        zones=frozenset.union(*(footer.zones for footer in footers)),
        statistics=statistics_of(footers),
        metadata=avro_metadata.common([(footer.name, footer.metadata) for footer in footers]),
        unended=unended_of(footers),
        warnings=warnings,
        codecs=tuple(sorted(seen)),
        writer=footer_keys.common(footer.writer for footer in footers),
    )


def unended_of(footers: Iterable[Footer]) -> int | None:
    """Return the number of text files whose last line has no line feed; None if it is not known of a file."""
    return _sum(footer.unended for footer in footers)


def statistics_of(footers: Iterable[Footer]) -> FileStatistics:
    """Return the figures of each leaf over all files."""
    return leaf_statistics.of_files([footer.statistics for footer in footers])


def rows_of(footers: Iterable[Footer]) -> int | None:
    """Return the number of rows; None if a file does not count them."""
    return _sum(footer.rows for footer in footers)


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of counts; None if one is not known."""
    values = list(counts)
    return None if None in values else sum(count for count in values if count is not None)


def with_rows(footers: Sequence[Footer]) -> list[Footer]:
    """Return the footers of files with rows; if no file has any, those of the first schema that has columns.

    Writers create a file for a task without rows, Hive even one without columns. No reader gets a row from it, so that
    its schema, codec and metadata do not count, and nothing is lost if it is not rewritten.
    """
    used = [footer for footer in footers if footer.rows != 0]  # guard: only_files_without_rows_left_out
    if used:
        return used
    first = next((footer for footer in footers if footer.leaves), None)
    if first is None:
        raise Refusal(RefusalCode.EMPTY, "its files have neither rows nor columns")
    return [first]


def _calendar(footers: Sequence[Footer], legacy_mark: str) -> Calendar:
    """Return the calendar of the files, by the keys that Spark 3 and later write in footers.

    The rules are those of Spark's `DataSourceUtils.datetimeRebaseSpec`. Arrow only has the proleptic calendar. If the
    files differ, or do not say, the calendar is UNKNOWN: then only values that are the same in both calendars are read.
    """
    calendars = {_calendar_of(footer, legacy_mark) for footer in footers}
    if len(calendars) != 1 or (calendars == {Calendar.HYBRID} and _zone(footers) is None):
        return Calendar.UNKNOWN
    return calendars.pop()


def _calendar_of(footer: Footer, legacy_mark: str) -> Calendar:
    if _SPARK_VERSION not in footer.writer:
        return Calendar.PROLEPTIC if "arrow" in footer.created_by else Calendar.UNKNOWN
    if legacy_mark in footer.writer:
        return Calendar.HYBRID
    return Calendar.PROLEPTIC if _spark_version(footer) >= _PROLEPTIC_SPARK else Calendar.UNKNOWN


def _spark_version(footer: Footer) -> int:
    """Return the major version of the Spark that wrote a file; 0 for any other writer."""
    match = re.match(r"\d+", footer.writer.get(_SPARK_VERSION, ""))
    return int(match[0]) if match else 0


def _zone(footers: Sequence[Footer]) -> str | None:
    zones = {footer.writer.get("org.apache.spark.timeZone") for footer in footers}
    return zones.pop() if len(zones) == 1 else None


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
    """Raise Refusal for INT96 timestamps that Spark did not write.

    Those of other writers may have nanoseconds, or be local times without a note, and Spark would change them silently.
    """
    for footer in footers:
        # guard: int96_writer
        if any("int96" in kind for kind in footer.leaves.values()) and _SPARK_VERSION not in footer.writer:
            raise Refusal(
                RefusalCode.UNKNOWN_INT96_WRITER,
                f"{footer.name} holds INT96 timestamps that Spark did not write",
            )


def _check_spark_only_types(footers: Iterable[Footer]) -> None:
    for footer in footers:
        match = _SPARK_ONLY_TYPES.search(footer.writer.get(_SPARK_SCHEMA, ""))
        if match:
            raise Refusal(
                RefusalCode.TYPE,
                f"{footer.name} has a column of Spark's type {match[1]}, which only Spark's own metadata describes",
            )


def _codecs(footers: Iterable[Footer], file_format: str) -> list[str]:
    """Return the codecs of the files, that of most compressed bytes first, and of as many bytes by name."""
    sizes: Counter[str] = Counter()
    for footer in footers:
        sizes.update(footer.codecs)
    return [
        codec_name(codec, file_format)
        for codec, _ in sorted(sizes.items(), key=lambda each: (-each[1], each[0]))
    ]
