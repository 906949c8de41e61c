"""All checks of a driver, in the order in which one needs what another has found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from spark_jobs.core.wire.checks import Answer, Check, Question, answered, good, not_asked
from spark_jobs.protocol.doctor import driver, metastore, storage
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.ports import Surroundings
from spark_jobs.protocol.services import Services

_METASTORE = (
    "Put the hive-site.xml of the cluster into $SPARK_CONF_DIR, and start the metastore that it names"
)
_HDFS = "Look at fs.defaultFS in the core-site.xml of HADOOP_CONF_DIR, at the ticket, and at the NameNode"
_TABLES = "Correct the name, or the metastore's entry of the table"


class Examination:
    """The checks of one driver.

    Args:
        read_tables: reads the tables that are named; the other checks of tables are made on them.
        named: what is named, for a person; empty if nothing is.
    """

    def __init__(
        self, services: Services, around: Surroundings, read_tables: Callable[[], Sequence[Table]], named: str
    ) -> None:
        self._services = services
        self._around = around
        self._read_tables = read_tables
        self._named = named
        self._tables: Sequence[Table] = ()

    def checks(self) -> Iterator[Check]:
        """Yield the checks as they are made."""
        answers: dict[str, Check] = {}
        for each in answered(self._of_driver()):
            answers[each.name] = each
            yield each
        broken = next((name for name in ("metastore", "metastore-client") if answers[name].is_bad), None)
        why = f"the check {broken} is bad" if broken else ""
        (tables,) = answered([self._question_of_tables(why)])
        yield tables
        yield from answered(self._of_storage(self._why_no_tables(tables)))

    def _of_driver(self) -> list[Question]:
        around, services = self._around, self._services
        return [
            Question("spark", "ask for versions", partial(driver.spark, around), "Look at SPARK_HOME"),
            Question(
                "executors",
                "run tasks on the executors",
                partial(driver.executors, around),
                "Look at the queue and the application's log; set spark.pyspark.python to a Python of the nodes",
            ),
            Question(
                "ticket", "ask Hadoop's client for the account", self._ask_for_ticket, "Look at krb5.conf"
            ),
            Question(
                "metastore",
                "connect, and list the databases",
                partial(metastore.metastore, services.metastore),
                _METASTORE,
            ),
            Question(
                "metastore-client",
                "look up a table, and compare the versions",
                partial(metastore.client, services.metastore, around),
                _METASTORE,
            ),
        ]

    def _ask_for_ticket(self) -> Answer:
        return driver.ticket(self._around, self._services.now())

    def _question_of_tables(self, unknown: str) -> Question:
        tried = f"read {self._named} in the metastore" if self._named else "read tables in the metastore"
        return Question("tables", tried, partial(self._ask_for_tables, unknown), _TABLES)

    def _ask_for_tables(self, unknown: str) -> Answer:
        if not self._named:
            return not_asked("no table is named: --table DB.TABLE")
        if unknown:
            return not_asked(unknown)
        self._tables = self._read_tables()
        units = sum(len(table.units) for table in self._tables)
        return good(f"{len(self._tables)} tables, {units} directories of data")

    def _why_no_tables(self, tables: Check) -> str:
        if not self._named:
            return "no table is named: --table DB.TABLE"
        return "" if self._tables else f"the check {tables.name} has found none"

    def _of_storage(self, unknown: str) -> list[Question]:
        services, around, tables = self._services, self._around, self._tables
        roots = [table.root for table in tables]
        of_tables: list[tuple[str, str, Callable[[], Answer], str]] = [
            (
                "rights",
                "ask for the rights in the tables' directories",
                partial(storage.rights, services, around, tables),
                _HDFS,
            ),
            ("trash", "ask whether there is a trash", partial(storage.trash, services, tables), _HDFS),
            ("quota", "compare quotas with what is used", partial(storage.quota, services, tables), _HDFS),
            (
                "lakekeeper-0.0.6",
                "look for what Lakekeeper 0.0.6 has left",
                partial(storage.leftovers, services, tables, services.metastore.tables),
                _HDFS,
            ),
        ]
        return [
            Question("hdfs", "read the file systems", partial(storage.hdfs, services, around, roots), _HDFS),
            *(
                Question(name, tried, partial(not_asked, unknown) if unknown else ask, action)
                for name, tried, ask, action in of_tables
            ),
        ]
