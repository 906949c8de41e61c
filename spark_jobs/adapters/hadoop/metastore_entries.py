"""The entries of the metastore as they are: parameters, types and classes by name.

To read a table, Spark and Hive's client load classes that it names (its storage handler, its formats, its SerDe), and
parse the types of its columns. An entry is read without either, so that what cannot be loaded can still be named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.hive_client import metastore_client
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.adapters.hadoop.java_errors import cause_classes, is_java_error
from spark_jobs.adapters.hadoop.partition_batches import PartitionBatches
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.rules.partition_loss import set_by_people
from spark_jobs.core.values.model import TableName

#: An object of the metastore's interface, as JSON.
Entry = Mapping[str, Any]

_NO_SUCH_TABLE = "NoSuchObjectException"
#: The kinds of tables that Spark supports, by its names.
_KINDS = {"EXTERNAL_TABLE": "EXTERNAL", "MANAGED_TABLE": "MANAGED", "VIRTUAL_VIEW": "VIEW"}
_HANDLER = "storage_handler"
#: The file by which Hive's class for Avro knows the columns. It is read, and shown in errors, whoever may read it.
_SCHEMA_FILE = "avro.schema.url"
_PROVIDER = "spark.sql.sources.provider"
#: As in Spark's descriptions, Spark's own properties and those that are fields are left out.
_OF_SPARK, _NOT_DESCRIBING = "spark.sql.sources.", ("comment", "EXTERNAL")


class MetastoreEntries:
    """Reads entries through the connection that Spark has to the metastore.

    Args:
        catalog: Spark's external catalog, which has asked the metastore before.
        mapper: a Jackson mapper.
        qualified: makes a location fully qualified.
    """

    def __init__(
        self, spark: SparkSession, catalog: Any, mapper: Any, qualified: Callable[[str], str]
    ) -> None:
        self._session = spark._jsparkSession
        self._jvm: Any = spark._jvm
        self._catalog = catalog
        self._mapper = mapper
        self._qualified = qualified
        self._batches = PartitionBatches(self._jvm, self.client)

    def table(self, name: TableName) -> Entry | None:
        """Return the entry of a table; None if it does not exist. It is one call to the metastore."""
        try:
            return dict(self._json(self.client().getTable(name.database, name.table)))
        except Exception as error:
            if is_java_error(error) and any(kind.endswith(_NO_SUCH_TABLE) for kind in cause_classes(error)):
                return None
            raise

    def partitions(self, name: TableName, keys: Sequence[str]) -> list[tuple[dict[str, str], Storage]]:
        """Return the values and storages of all partitions of a table. See `partition_batches`."""
        entries = self._batches.read(name)
        return [(dict(zip(keys, entry["values"])), self._partition(entry)) for entry in entries]

    def drop(self, name: TableName) -> None:
        """Drop a table, but not its files."""
        delete_data, ignore_missing = False, True
        self.client().dropTable(name.database, name.table, delete_data, ignore_missing)

    def facts(self, name: TableName, entry: Entry, unreadable: str | None = None) -> TableFacts:
        """Return the description of a table by its entry alone.

        Args:
            unreadable: why Spark cannot read the table.

        Raises:
            Refusal: it is of a kind of Hive that Spark does not have.
        """
        sd, parameters = entry["sd"], entry["parameters"] or {}
        keys, bucketed = _columns(entry["partitionKeys"]), sd["numBuckets"] > 0
        skewed = (sd.get("skewedInfo") or {}).get("skewedColNames")
        return TableFacts(
            name=str(name),
            kind=_kind(name, entry),
            storage=self._storage(sd),
            provider=parameters.get(_PROVIDER, "hive"),
            properties={key: value for key, value in parameters.items() if _describes(key)},
            columns=_columns(sd["cols"]),
            partition_keys=tuple(key for key, _ in keys),
            partition_types=tuple(kind for _, kind in keys),
            bucketed=bucketed,
            buckets=max(0, sd["numBuckets"]),
            sorted_by=_ascending(sd["sortCols"] or []) if bucketed else (),
            unsupported=("skewed columns",) if skewed else (),
            unreadable=unreadable,
        )

    def unreadable_facts(self, name: TableName, entry: Entry, error: str) -> TableFacts:
        """Return the description of a table that Spark cannot read, with the column that prevents it.

        Args:
            error: what Spark said.
        """
        failing = self._failing(entry)
        # Spark may parse a type in the metastore that it does not parse in SQL text.
        named = [(column, kind) for column, kind in failing if f"`{column}`" in error] or failing
        why = _of_type(*named[0]) if named else error
        return self.facts(name, entry, None if is_read_by_classes(entry) else why)

    def facts_without_schema_file(self, name: TableName, entry: Entry) -> TableFacts:
        """Return the description of a table by the columns that the metastore has, and not by those of a file."""
        failing = self._failing(entry)
        return self.facts(name, entry, _of_type(*failing[0]) if failing else None)

    @staticmethod
    def names_schema_file(entry: Entry) -> bool:
        """Tell whether a property of a table, or of its SerDe, names a file with the schema."""
        serde = entry["sd"]["serdeInfo"] or {}
        return any(_SCHEMA_FILE in (each or {}) for each in (entry["parameters"], serde.get("parameters")))

    def _failing(self, entry: Entry) -> list[tuple[str, str]]:
        """Return the columns whose types Spark does not parse."""
        columns = [*_columns(entry["sd"]["cols"]), *_columns(entry["partitionKeys"])]
        return [(column, kind) for column, kind in columns if not self._is_parsable(kind)]

    def _is_parsable(self, kind: str) -> bool:
        try:
            self._session.sessionState().sqlParser().parseDataType(kind)
        except Exception as error:
            if not is_java_error(error):
                raise
            return False
        return True

    def client(self) -> Any:
        """Return the connection to the metastore. It is asked for before each use: Spark may have given one up."""
        return metastore_client(self._jvm, self._catalog)

    def _partition(self, entry: Entry) -> Storage:
        """Return the storage of a partition. The metastore counts seconds, and Spark milliseconds."""
        parameters = set_by_people(entry["parameters"] or {})
        sd, created = entry["sd"], entry["createTime"] * 1000
        return replace(
            self._storage(sd), created=created, parameters=parameters, buckets=max(0, sd["numBuckets"])
        )

    def _storage(self, sd: Entry) -> Storage:
        serde = sd["serdeInfo"] or {}
        location = self._qualified(sd["location"]) if sd["location"] else ""
        return Storage(
            location, sd["inputFormat"], serde.get("serializationLib"), serde.get("parameters") or {}
        )

    def _json(self, java: Any) -> Any:
        return java_json(self._mapper, java)


def is_read_by_classes(entry: Entry) -> bool:
    """Tell whether the table has no files of its own, so that Spark would load a class to read it, or cannot read it.

    The class of a storage handler may be missing, or connect to the handler's own system.
    """
    return bool((entry["parameters"] or {}).get(_HANDLER)) or entry["tableType"] not in _KINDS


def _of_type(column: str, kind: str) -> str:
    return f"column '{column}' has the type {kind}"


def _kind(name: TableName, entry: Entry) -> str:
    """Return the kind of a table by Spark's name. Raise Refusal for a kind of Hive that Spark does not have."""
    kind = str(entry["tableType"])
    if kind not in _KINDS:
        raise Refusal(RefusalCode.VIEW, f"{name} is a {kind.lower().replace('_', ' ')} of Hive")
    return _KINDS[kind]


def _describes(key: str) -> bool:
    return not key.startswith(_OF_SPARK) and key not in _NOT_DESCRIBING


def _ascending(orders: Sequence[Entry]) -> tuple[str, ...]:
    """Return the columns of SORTED BY; none if one is descending, as Spark has them."""
    return tuple(each["col"] for each in orders) if all(each["order"] == 1 for each in orders) else ()


def _columns(fields: Sequence[Entry] | None) -> tuple[tuple[str, str], ...]:
    return tuple((field["name"], field["type"]) for field in fields or ())
