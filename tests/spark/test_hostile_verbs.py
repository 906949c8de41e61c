"""Every verb over the texts of tables, in a process with secrets: none of them gets out, and no text acts."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.services.java import DRIVER_OPTIONS
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ
from spark_jobs.core.options.option import DOCTOR, VERBS
from tests.harness.fixtures import _spark_env, fresh_database
from tests.hostile.corpus import HADOOP_PROPERTY, NAME, PROPERTY, SECRETS, TEXTS
from tests.hostile.search import UNSEEN, Search, executed
from tests.hostile.tables import GONE, TABLES, make_tables
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full
HOSTILE = Path(__file__).parents[1] / "hostile"
#: What these tests have passed the corpus through; tests/contract compares it with the code.
PASSED = json.loads((HOSTILE / "passed.json").read_text())
#: Each is read by the name that the variables of the corpus have.
CONF = {
    f"spark.{PROPERTY}": SECRETS["Spark property"],
    f"spark.hadoop.{HADOOP_PROPERTY}": SECRETS["Hadoop property"],
    f"spark.hadoop.{PROPERTY}": SECRETS["Hadoop property"],
    f"spark.hadoop.{NAME}": SECRETS["Hadoop property"],
    "spark.sql.variable.substitute": "true",
}


@dataclass
class Ended:
    """What the process has left.

    Attributes:
        output: what Python has printed and logged; spark-submit puts both together.
        log: what Java has logged.
        before: the rows of each table as they were made.
    """

    session: SparkSession
    database: str
    folder: Path
    output: str
    log: str
    before: dict[str, Counter[str]]

    def report(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / "work" / f"{name}.json").read_text())

    def outcomes(self, name: str) -> Counter[str]:
        return Counter(unit["outcome"] for table in self.report(name)["tables"] for unit in table["units"])


@pytest.fixture(scope="module")
def ended(
    spark: SparkSession, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ended]:
    """All verbs have run."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "work" / "tmp").mkdir(parents=True)
    session = spark.newSession()
    session.conf.set("spark.sql.variable.substitute", "false")
    session.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    with fresh_database(spark, folder) as database:
        make_tables(session, database.name, database.path)
        before = _rows(session, database.name, folder)
        output, log = _submit(folder, metastore.uri, [database.name, str(database.path)])
        yield Ended(session, database.name, folder, output, log, before)


def _rows(session: SparkSession, database: str, folder: Path) -> dict[str, Counter[str]]:
    """Return the rows of all tables that Spark can read and nobody has dropped. It takes some paths for patterns."""
    read = [table for table in TABLES if table not in (GONE, "placed", "unreadable")]
    found = {table: rows(session, f"{database}.{table}") for table in read}
    elsewhere = folder / "db" / "elsewhere"
    files = [elsewhere / name for name in tree(elsewhere)]
    lines = (f"{file.parent.name}: {line}" for file in files for line in file.read_text().splitlines())
    return {**found, "placed": Counter(lines)}


def _submit(folder: Path, metastore: str, words: list[str]) -> tuple[str, str]:
    temporary = folder / "work" / "tmp"
    java = f"{DRIVER_OPTIONS} -Djava.io.tmpdir={temporary} -D{PROPERTY}={SECRETS['system property']}"
    conf = {**CONF, "spark.driver.extraJavaOptions": java}
    environ = spark_environ(_spark_env(), metastore, folder / "spark", conf=conf)
    done = subprocess.run(
        ["spark-submit", str(HOSTILE / "jobs.py"), *words, str(folder / "work")],
        env={**environ, NAME: SECRETS["environment"], "TMPDIR": str(temporary)},
        cwd=folder / "work",
        capture_output=True,
        timeout=1500,
    )
    output, log = (each.decode("utf-8", "backslashreplace") for each in (done.stdout, done.stderr))
    assert done.returncode == 0, output[-5000:] + log[-5000:]
    return output, log


def test_every_verb_has_worked_on_the_tables_and_has_ended_by_itself(ended: Ended) -> None:
    exits = re.findall(r"^END (\w+) (\S+)$", ended.output, re.M)
    assert {code for _, code in exits} <= {"0", "1", "2", "3"}, set(exits)
    assert {verb for verb, code in exits if code in "01"} == {*VERBS, DOCTOR} == set(PASSED["verbs"])
    first = ended.outcomes("first")
    assert set(first) == {"compacted", "healthy", "skipped"}
    assert first["compacted"] > len(TEXTS)
    assert set(ended.outcomes("rollback")) == {"restored"}
    assert ended.outcomes("rollback")["restored"] > len(TEXTS)
    assert ended.outcomes("planned")["compacted"] > len(TEXTS)
    assert ended.outcomes("parts-cleanup")["cleaned"] > len(TEXTS)


def test_rows_are_those_that_were_there_before(ended: Ended) -> None:
    assert _rows(ended.session, ended.database, ended.folder) == ended.before


def test_no_secret_is_in_what_was_written_or_printed(
    ended: Ended, metastore: Metastore, record_property: Any
) -> None:
    search, texts = Search(), Search({"a text": NAME})
    for each in (search, texts):
        each.text("output", "Python", ended.output)
        each.text("output", "Java", ended.log)
        for folder in (ended.folder / "db", ended.folder / "work", ended.folder / "spark" / "spark-local"):
            each.files(folder.name, folder)
        each.files("files of the metastore", metastore.directory)
        for name, entry in _entries(ended):
            each.text("entries of the metastore", name, entry)
    calls = len(re.findall("^BEGIN ", ended.output, re.M))
    for what, count in (("texts", len(TEXTS)), ("calls of verbs", calls), *search.searched.items()):
        record_property(what, count)
    assert search.found == [], search.found
    # The texts themselves are found in each kind of place, so a secret would be.
    assert {kind for kind, _, _ in texts.found} >= {
        *("output", "db", "work", "files of the metastore", "entries of the metastore")
    }
    names = [name for _, name, _ in texts.found]
    for part in ("/journal/", "/log/", ".orc", ".parquet", "/avro/", "/sequencefile/", "/textfile/"):
        assert any(part in name for name in names), part


def _entries(ended: Ended) -> Iterator[tuple[str, str]]:
    """Yield the entries of all tables, those of backups too, and of their partitions."""
    with metastore_client(ended.session) as client:
        for table in list(client.getAllTables(ended.database)):
            yield table, client.getTable(ended.database, table).toString()
            for partition in client.listPartitions(ended.database, table, -1):
                yield table, partition.toString()


def test_no_text_was_executed(ended: Ended) -> None:
    tables = {row.tableName for row in ended.session.sql(f"SHOW TABLES IN {ended.database}").collect()}
    assert {"victim", *TABLES} - {GONE} <= tables
    assert executed(ended.folder) == []


def test_no_text_begins_a_line_or_acts_on_a_terminal(ended: Ended) -> None:
    lines = ended.output.split("\n")
    assert [line for line in (*lines, *ended.log.split("\n")) if UNSEEN.search(line)] == []
    assert len(_reports(ended)) == len([line for line in lines if line.startswith("BEGIN ")])
    assert {report["schema_version"] for report in _reports(ended)} == {1}


def _reports(ended: Ended) -> list[dict[str, Any]]:
    lines = ended.output.split("\n")
    return [json.loads(line.partition(" ")[2]) for line in lines if line.startswith("LAKEKEEPER_REPORT")]


def test_the_record_of_what_the_texts_have_passed_through_is_true(ended: Ended) -> None:
    """tests/contract fails for code that is not in the record; this one fails for a record that is not true."""
    reached = json.loads((ended.folder / "reached.json").read_text())
    found = {site: ("text" if text else "names") for site, text in reached.items()}
    # All others have a reason.
    assert found == {site: what for site, what in PASSED["sites"].items() if what in ("text", "names")}
    tables = [table for report in _reports(ended) for table in report["tables"]]
    units = [unit for table in tables for unit in table["units"]]
    for kind, each in (("report", _reports(ended)), ("table", tables), ("unit", units)):
        assert (
            sorted({key for one in each for key, value in one.items() if value is not None}) == PASSED[kind]
        )
