"""The checks whether a table may be compacted at all.

Every refusal has a stable code and a reason of one sentence (docs/design/fidelity.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_jobs.core.formats.hadoop_values import is_literal
from spark_jobs.core.formats.registry import FORMATS, format_of, not_supported
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.reader_filters import (
    FILTER_SETTINGS,
    check_filters_of_cluster,
    check_filters_of_table,
)
from spark_jobs.core.values.layout import is_inside_home
from spark_jobs.core.values.model import FileListing

#: File systems on which a directory rename is atomic.
_SCHEMES = ("hdfs", "file")  # guard: atomic_rename_schemes
_CODES_BY_PROVIDER = {
    "iceberg": RefusalCode.ICEBERG,
    "delta": RefusalCode.DELTA,
    "hudi": RefusalCode.HUDI,
    "paimon": RefusalCode.PAIMON,
}
_CODES_BY_NAME = {
    "_delta_log": RefusalCode.DELTA,
    ".hoodie": RefusalCode.HUDI,
    "_hoodie": RefusalCode.HUDI,
    "_spark_metadata": RefusalCode.STREAMING_SINK,
}
#: Settings of a cluster by which readers match columns, divide text into rows, or leave out files. A table may have
#: them too.
READING_SETTINGS = (
    "parquet.column.index.access",
    "orc.force.positional.evolution",
    "textinputformat.record.delimiter",
    *FILTER_SETTINGS,
)
_BY_POSITION = READING_SETTINGS[:2]


@dataclass(frozen=True)
class Storage:
    """The storage of a table or a partition, which says how its files are read.

    Attributes:
        location: a decoded, fully qualified URI.
        created: when the metastore made the partition, in ms since the epoch; None for a table. A partition that was
            dropped and added again has another one.
        parameters: the partition's parameters that people or programs have set on it.
        buckets: the number of buckets of a partition; None if it was not read, since its table has none.
    """

    location: str
    input_format: str | None
    serde: str | None
    properties: Mapping[str, str] = field(default_factory=dict)
    created: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    buckets: int | None = None

    @property
    def format(self) -> str | None:
        """Return the name of the format (`core/formats/registry.py`); None if it is unknown."""
        return format_of(self.input_format, self.serde)


@dataclass(frozen=True)
class TableFacts:
    """The description of a table in the metastore.

    `columns` are pairs (name, Hive type), without the partition keys. `unreadable` says why Spark cannot read the
    table; then the description is that of the metastore's own entry. `buckets` is the number that is declared, if Hive
    has bucketed the table. `cluster` has those of READING_SETTINGS that the
    cluster sets for all tables.
    """

    name: str
    kind: str
    storage: Storage
    provider: str | None
    properties: Mapping[str, str]
    columns: tuple[tuple[str, str], ...]
    partition_keys: tuple[str, ...]
    partition_types: tuple[str, ...] = ()
    bucketed: bool = False
    buckets: int = 0
    sorted_by: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    unreadable: str | None = None
    cluster: Mapping[str, str] = field(default_factory=dict)

    @property
    def key_types(self) -> dict[str, str]:
        """Return the Hive types of the partition keys, by key, in their order."""
        return dict(zip(self.partition_keys, self.partition_types))


def check_table(facts: TableFacts, bucketing: str = "refuse", enabled: bool = True) -> str:
    """Return the format of a table that may be compacted. Raise Refusal for any other table."""
    _check_kind(facts)
    _check_table_format(facts)
    _check_owner(facts, enabled)
    _check_layout(facts, bucketing)
    check_place(facts.storage.location)
    check_literal(facts.storage.location)
    file_format = check_storage(facts.storage, f"table {facts.name}")
    _check_provider(facts, file_format)
    _check_types(facts, file_format)
    check_filters_of_table(facts.name, (facts.properties, facts.storage.properties))
    check_filters_of_cluster(facts.name, facts.cluster, file_format)
    return file_format


def _check_types(facts: TableFacts, file_format: str) -> None:
    """Raise Refusal for a table that Spark cannot read, unless its files are copied without their types."""
    if facts.unreadable and not FORMATS[file_format].copied_without_types:  # guard: types_that_spark_has
        raise Refusal(RefusalCode.TYPE, f"Spark cannot read {facts.name}: {facts.unreadable}")


def _check_provider(facts: TableFacts, file_format: str) -> None:
    """Raise Refusal for a table of a Spark source that Hive does not have.

    Spark registers such a table in the metastore as sequence files, whatever its files are.
    """
    provider = (facts.provider or "hive").lower()
    if provider not in ("hive", file_format):
        raise Refusal(
            RefusalCode.SERDE, f"{facts.name} is a Spark table of '{provider}', which only Spark can read"
        )


def _check_kind(facts: TableFacts) -> None:
    if facts.kind == "VIEW" or "VIEW" in facts.kind:
        raise Refusal(RefusalCode.VIEW, f"{facts.name} is a view and has no files of its own")
    if facts.properties.get("transactional", "").lower() == "true":
        raise Refusal(
            RefusalCode.TRANSACTIONAL, f"{facts.name} is transactional; Hive compacts such tables itself"
        )


def native_format(facts: TableFacts) -> str | None:
    """Return the name of the format that keeps the list of the table's files, by its entry; None for other tables."""
    provider = (facts.provider or "").lower()
    hint = facts.properties.get("table_type", "").lower() or provider.split(".")[-1]
    handler = facts.properties.get("storage_handler", "").lower()
    marks = ((name, f"{name}.table" in facts.properties) for name in _CODES_BY_PROVIDER)
    return next(
        (name for name, is_marked in marks if is_marked or name in (hint, provider) or name in handler), None
    )


def refuse_native(facts: TableFacts) -> None:
    """Raise the refusal of a table of another format, which is not switched on."""
    name = native_format(facts)
    if name is not None:
        raise Refusal(
            _CODES_BY_PROVIDER[name],
            f"{facts.name} is a {name.capitalize()} table; its files must only be rewritten by {name.capitalize()}",
        )


def _check_table_format(facts: TableFacts) -> None:
    refuse_native(facts)
    handler = facts.properties.get("storage_handler", "")
    if handler or any("storage handler" in feature.lower() for feature in facts.unsupported):
        raise Refusal(
            RefusalCode.STORAGE_HANDLER,
            f"{facts.name} is read through a storage handler ({handler or 'non-native'}), not from files",
        )
    if facts.kind != "EXTERNAL":
        raise Refusal(
            RefusalCode.MANAGED,
            f"{facts.name} is a {facts.kind.lower()} table; only external tables are compacted",
        )


def _check_owner(facts: TableFacts, enabled: bool) -> None:
    if "lakekeeper.run_id" in facts.properties:
        raise Refusal(RefusalCode.BACKUP, f"{facts.name} is a backup made by a compaction")
    if not enabled:
        raise Refusal(RefusalCode.OPTED_OUT, f"{facts.name} is opted out by lakekeeper.enabled=false")


def _check_layout(facts: TableFacts, bucketing: str) -> None:
    by_hive = (facts.provider or "hive").lower() == "hive"
    # Of a table that Hive has bucketed, the files of each unit tell whether they are buckets (`bucket_files`).
    if facts.bucketed and not (
        by_hive and (bucketing == "ignore" or facts.buckets)
    ):  # guard: bucketed_tables
        raise Refusal(
            RefusalCode.BUCKETED, f"{facts.name} is bucketed; a rewrite would break its bucket files"
        )
    if any("skew" in feature.lower() for feature in facts.unsupported):  # guard: skewed_tables
        raise Refusal(RefusalCode.SKEWED, f"{facts.name} is skewed; it uses list-bucketing directories")


def may_have_runs(location: str) -> bool:
    """Tell whether a compaction may ever have worked at a location: not on an object store, which it refuses."""
    return location.split(":", 1)[0].lower() in (*_SCHEMES, "viewfs")


def check_runs(facts: TableFacts, bucketing: str = "refuse", enabled: bool = True) -> None:
    """Raise the refusal of a table on an object store: no run is there, and the job may have no client to look."""
    root = facts.storage.location
    if root and not may_have_runs(root):  # guard: object_stores_not_listed
        check_table(facts, bucketing, enabled)


def check_place(location: str) -> None:
    """Raise Refusal for a location that must not be swapped, whatever it contains."""
    if not location:
        raise Refusal(RefusalCode.FILE_SYSTEM, "the metastore has no location of it")
    if is_inside_home(location):
        raise Refusal(RefusalCode.BACKUP, f"{location} is a backup made by a compaction")
    scheme = location.split(":", 1)[0].lower()
    if scheme == "viewfs":
        raise Refusal(
            RefusalCode.OBJECT_STORE,
            f"{location} is below no mount of its viewfs, so its file system is unknown",
        )
    if scheme not in _SCHEMES:
        raise Refusal(
            RefusalCode.OBJECT_STORE, f"{location} is on '{scheme}', where a directory rename is not atomic"
        )


def check_literal(path: str) -> None:
    """Raise Refusal for a path that Hadoop's readers and writers would take for another one."""
    if not is_literal(path):  # guard: paths_without_variables
        raise Refusal(
            RefusalCode.VARIABLE, f"the path {path} has a variable, which Hadoop would replace; rename it"
        )


def check_names(location: str, files: FileListing) -> None:
    """Raise Refusal for a file with such a path."""
    for file in files.data:
        check_literal(f"{location}/{file.name}")


def check_storage(storage: Storage, what: str) -> str:
    """Return the format of a table or partition, by its input format and SerDe.

    Args:
        what: the table or partition, for the message.

    Raises:
        Refusal: the format is not supported.
    """
    if storage.format is None:
        raise Refusal(
            RefusalCode.SERDE,
            f"{what} {not_supported(storage.input_format, storage.serde)}; Parquet, ORC, Avro, text and sequence files"
            " are",
        )
    return storage.format


def check_properties(facts: TableFacts, storage: Storage, what: str) -> None:
    """Raise Refusal for properties with which a rewrite would change the rows that are read."""
    if storage.format is not None:
        # guard: lines_of_the_cluster
        sources = (facts.cluster, facts.properties, facts.storage.properties, storage.properties)
        FORMATS[storage.format].check_properties(sources, what)


def positional(facts: TableFacts) -> bool:
    """Tell whether columns are matched by position and not by name."""
    sources = (facts.cluster, facts.properties, facts.storage.properties)  # guard: positions_of_the_cluster
    # Hadoop reads a boolean without the blanks around it.
    return any(source.get(key, "").strip().lower() == "true" for source in sources for key in _BY_POSITION)


def declares_encoding(facts: TableFacts) -> bool:
    """Tell whether the table declares that its text has another encoding than UTF-8."""
    sources = (facts.properties, facts.storage.properties)
    declared = [source["serialization.encoding"] for source in sources if "serialization.encoding" in source]
    return any(each.strip().lower().replace("_", "-") not in ("utf-8", "utf8", "") for each in declared)


def check_marks(names: list[str], location: str) -> None:
    """Raise Refusal if the root of a plain Hive table has a directory of a table format.

    Then the table's rows are not simply those of all its files.

    Args:
        names: the names in the directory `location`.
    """
    for name in names:
        if name in _CODES_BY_NAME:
            raise Refusal(
                _CODES_BY_NAME[name],
                f"{location} has {name}, which lists its files: only the engine that wrote it may rewrite them",
            )
    if "metadata" in names and "data" in names:
        raise Refusal(RefusalCode.ICEBERG, f"{location} has metadata/ and data/, like an Iceberg table")
