"""All checks of a driver, in the order in which one needs what another has found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spark_jobs.core.wire.checks import Answer, Check, Question, advice, answered, bad, good, not_asked
from spark_jobs.protocol.doctor import driver, metastore, storage
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.surroundings import Surroundings
from spark_jobs.protocol.services import Services

_QUEUE = "Look at the queue, and at the log of the application"
_METASTORE = (
    "Start the metastore that hive-site.xml names, or correct hive.metastore.uris in it; if a class is missing, correct"
    " spark.sql.hive.metastore.jars"
)
_HDFS = (
    "Look at fs.defaultFS in the core-site.xml of HADOOP_CONF_DIR, and at the NameNode; if a class is missing, add its"
    " jar (spark.jars)"
)
_TABLES = "Correct the name, or what the metastore has of the table"


@dataclass(frozen=True)
class Found:
    """The tables that are looked at, and errors about others."""

    tables: Sequence[Table] = ()
    errors: Sequence[str] = ()


class Examination:
    """The checks of one driver.

    Args:
        read_tables: reads the tables that are named; the other checks of tables are made on them.
        named: what is named, for a person.
        unnamed: why no tables can be read; empty if they can.
    """

    def __init__(
        self,
        services: Services,
        around: Surroundings,
        read_tables: Callable[[], Found],
        named: str,
        unnamed: str = "",
    ) -> None:
        self._services = services
        self._around = around
        self._read_tables = read_tables
        self._named = named
        self._unnamed = unnamed
        self._tables: Sequence[Table] = ()

    def checks(self) -> Iterator[Check]:
        """Yield the checks as they are made."""
        return answered([*self._of_driver(), *self._of_metastore(), *self._of_storage()])

    def _of_driver(self) -> list[Question]:
        around, now = self._around, self._services.now
        return [
            Question("spark", "ask for versions", lambda: driver.spark(around), "Look at SPARK_HOME"),
            Question("executors", "run tasks on the executors", lambda: driver.executors(around), _QUEUE),
            Question(
                "ticket",
                "ask Hadoop's client for the account",
                lambda: driver.ticket(around, now()),
                "Look at krb5.conf",
            ),
        ]

    def _of_metastore(self) -> list[Question]:
        around, catalog = self._around, self._services.metastore
        tables = f"read {self._named} in the metastore"
        return [
            Question(
                "metastore",
                "connect, and list the databases",
                lambda: metastore.metastore(catalog),
                _METASTORE,
                ["ticket"],
            ),
            Question(
                "metastore-client",
                "look up a table, and compare the versions",
                lambda: metastore.client(catalog, around),
                _METASTORE,
                ["metastore"],
            ),
            Question("tables", tables, self._ask_for_tables, _TABLES, ["metastore", "metastore-client"]),
        ]

    def _ask_for_tables(self) -> Answer:
        if self._unnamed:
            return not_asked(self._unnamed)
        found = self._read_tables()
        self._tables = found.tables
        tables, units = len(found.tables), sum(len(table.units) for table in found.tables)
        shown = f"{tables} {'table' if tables == 1 else 'tables'}, directories of data: {units}"
        if not found.errors:
            return good(shown) if tables else not_asked(f"{self._named} has no table that a job works on")
        text = f"{shown}; {len(found.errors)} others cannot be read: {found.errors[0]}"
        return advice(text, _TABLES) if tables else bad(text, _TABLES)

    def _of_storage(self) -> list[Question]:
        services, around = self._services, self._around
        needs = ["tables", "hdfs"]
        return [
            Question(
                "hdfs",
                "read the file systems",
                lambda: storage.hdfs(services, around, [table.root for table in self._tables]),
                _HDFS,
                ["ticket"],
            ),
            Question(
                "rights",
                "ask for the rights in the tables' directories",
                lambda: storage.rights(services, around, self._tables),
                _HDFS,
                needs,
            ),
            Question(
                "trash",
                "ask whether there is a trash",
                lambda: storage.trash(services, around, self._tables),
                _HDFS,
                needs,
            ),
            Question(
                "quota",
                "compare quotas with what is used",
                lambda: storage.quota(services, self._tables),
                _HDFS,
                needs,
            ),
            Question(
                "lakekeeper-0.0.6",
                "look for what Lakekeeper 0.0.6 has left",
                lambda: storage.leftovers(services, self._tables),
                _HDFS,
                needs,
            ),
        ]
