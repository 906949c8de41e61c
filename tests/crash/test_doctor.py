"""What `doctor` says of a driver, each fault planted in the model; tests/cluster has the real ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta, timezone
from typing import Any

import pytest

from spark_jobs import __version__
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.surroundings import MetastoreVersions, Ticket, Versions
from spark_jobs.verbs import doctor
from tests.crash.model_tree import AUTHORITY, ME
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster

ALL = [
    *("spark", "executors", "ticket", "metastore", "metastore-client", "tables"),
    *("hdfs", "rights", "trash", "quota", "lakekeeper-0.0.6"),
]
OF_TABLES = ("rights", "trash", "quota", "lakekeeper-0.0.6")


class Surroundings:
    """A driver whose programs are all right, until a test says otherwise."""

    def __init__(self) -> None:
        self.tasks: Mapping[str, int] | Exception = {"Spark 3.5.9 and Java 17 on node1": 2}
        self.pythons: Mapping[str, int] | Exception = {"Python 3.11.4 on node1": 2}
        self.known = Ticket(secured=True, account="etl@REALM", valid=True)
        self.server = MetastoreVersions("2.3.9", "3.1.3")
        self.safe = False
        self.denied: set[tuple[str, str]] = set()

    def versions(self) -> Versions:
        return Versions("3.5.9", "/opt/spark", "17.0.1", "3.11.9", "yarn", "client", "edge1")

    def executors(self, seconds: float) -> Mapping[str, int]:
        return _answer(self.tasks)

    def executors_python(self, seconds: float) -> Mapping[str, int]:
        return _answer(self.pythons)

    def ticket(self) -> Ticket:
        return self.known

    def metastore_versions(self) -> MetastoreVersions:
        return self.server

    def safe_mode(self, path: str) -> bool:
        return self.safe

    def check_access(self, path: str, rights: str) -> None:
        if (path, rights) in self.denied:
            raise PermissionError(f"no access to {path}: Permission denied: user={ME}")

    def trash_root(self, path: str) -> str:
        return f"{AUTHORITY}/user/{ME}/.Trash"


def _answer(found: Mapping[str, int] | Exception) -> Mapping[str, int]:
    if isinstance(found, Exception):
        raise found
    return found


@pytest.fixture
def sim() -> SimulatedCluster:
    built = build()
    built.tree.write(f"{AUTHORITY}/user/{ME}/x", b"", parents=True)
    return built


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


def examined(sim: SimulatedCluster, around: Surroundings, *words: str, client: Any = None) -> dict[str, Any]:
    """Returns the report as the wire has it, with the checks by their names; nothing may have changed."""
    client, before = client or sim.client(), sim.digest()
    report = Report("doctor", __version__)
    with acting_as(client):
        doctor.examine(client.cluster, around, parse("doctor", words, ""), report, lambda _: None)
    assert report.ended is not None
    assert sim.digest() == before
    data = report.to_json()
    return {**data, "exit_code": report.exit_code, "checks": {each["check"]: each for each in data["checks"]}}


def of(sim: SimulatedCluster, around: Surroundings, name: str, *words: str) -> tuple[str, str, str]:
    check = examined(sim, around, *(words or ("--table", EVENTS)))["checks"][name]
    return check["outcome"], check["found"], check["action"] or ""


def test_all_is_well(sim: SimulatedCluster, around: Surroundings) -> None:
    report = examined(sim, around, "--table", EVENTS)
    assert list(report["checks"]) == ALL
    outcomes = {name: check["outcome"] for name, check in report["checks"].items()}
    assert outcomes == dict.fromkeys(ALL, "good")
    assert (report["outcome"], report["exit_code"], report["tables"]) == ("done", 0, [])
    assert "Spark 3.5.9" in report["checks"]["spark"]["found"]
    assert report["checks"]["tables"]["found"] == "1 table, directories of data: 3"


def test_without_a_table_its_directories_are_not_asked(sim: SimulatedCluster, around: Surroundings) -> None:
    checks = examined(sim, around)["checks"]
    assert list(checks) == ALL
    for name in ("tables", *OF_TABLES):
        assert checks[name]["outcome"] == "not-asked"
        assert "--table" in checks[name]["found"]
    assert checks["hdfs"]["outcome"] == "good"


def test_a_database_stands_for_its_tables(sim: SimulatedCluster, around: Surroundings) -> None:
    assert of(sim, around, "tables", "--database", "sales")[:2] == (
        "good",
        "2 tables, directories of data: 4",
    )
    outcome, found, _ = of(sim, around, "tables", "--database", "salse")
    assert outcome == "bad"
    assert "did you mean 'sales'" in found


def test_a_table_that_does_not_exist(sim: SimulatedCluster, around: Surroundings) -> None:
    checks = examined(sim, around, "--table", "sales.evnts")["checks"]
    assert checks["tables"]["outcome"] == "bad"
    assert "did you mean 'sales.events'" in checks["tables"]["found"]
    assert {checks[name]["outcome"] for name in OF_TABLES} == {"not-asked"}


@pytest.mark.parametrize(
    ("ticket", "outcome", "words"),
    [
        (Ticket(secured=True, account="etl"), "bad", "has no ticket"),
        (Ticket(secured=True, account="etl", tokens=3), "good", "3 delegation tokens"),
        (Ticket(secured=True, account="etl", valid=True, by_keytab=True), "good", "by a keytab"),
        (Ticket(secured=False, account="etl"), "good", "without Kerberos"),
    ],
)
def test_ticket(
    sim: SimulatedCluster, around: Surroundings, ticket: Ticket, outcome: str, words: str
) -> None:
    around.known = ticket
    found = of(sim, around, "ticket")
    assert found[0] == outcome
    assert words in found[1]


def test_what_would_only_fail_for_want_of_a_ticket_is_not_asked(
    sim: SimulatedCluster, around: Surroundings
) -> None:
    around.known = Ticket(secured=True, account="etl")
    report = examined(sim, around, "--table", EVENTS)
    assert [name for name, each in report["checks"].items() if each["outcome"] == "bad"] == ["ticket"]
    for name in ("metastore", "metastore-client", "tables", "hdfs", *OF_TABLES):
        assert report["checks"][name]["found"] == "not asked here, because the check ticket is bad"


@pytest.mark.parametrize(
    ("left", "outcome"),
    [(timedelta(minutes=-1), "bad"), (timedelta(minutes=20), "advice"), (timedelta(hours=9), "good")],
)
def test_life_of_a_ticket(sim: SimulatedCluster, around: Surroundings, left: timedelta, outcome: str) -> None:
    client = sim.client()
    with acting_as(client):
        ends = client.cluster.now().astimezone(timezone.utc) + left
    around.known = Ticket(secured=True, account="etl", valid=True, ends=ends)
    check = examined(sim, around, "--table", EVENTS, client=client)["checks"]["ticket"]
    assert check["outcome"] == outcome
    assert f"{ends:%Y-%m-%dT%H:%M}" in check["found"]


def test_executors(sim: SimulatedCluster, around: Surroundings) -> None:
    found = of(sim, around, "executors")
    assert found[:2] == (
        "good",
        "Spark 3.5.9 and Java 17 on node1 (2 tasks); Python 3.11.4 on node1 (2 tasks)",
    )
    around.pythons = LakekeeperError("Cannot run program python3")
    outcome, text, _ = of(sim, around, "executors")
    assert outcome == "good"
    assert "no Python, which the jobs do not need there (Cannot run program python3)" in text


def test_no_executor_comes(sim: SimulatedCluster, around: Surroundings) -> None:
    around.tasks = LakekeeperError("no executor has run a task within 120 s")
    outcome, found, action = of(sim, around, "executors")
    assert (outcome, found) == ("bad", "no executor has run a task within 120 s")
    assert "queue" in action


class NoMetastore:
    def __init__(self, text: str) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        def fail(*_: Any) -> Any:
            raise LakekeeperError(self._text)

        return fail


def with_metastore(sim: SimulatedCluster, metastore: Any) -> Any:
    client = sim.client()
    object.__setattr__(client.cluster, "metastore", metastore)
    return client


def test_metastore_down(sim: SimulatedCluster, around: Surroundings) -> None:
    client = with_metastore(sim, NoMetastore("cannot connect: (the Hive Metastore at thrift://hms:9083)"))
    report = examined(sim, around, "--table", EVENTS, client=client)
    assert report["exit_code"] == 1
    assert "thrift://hms:9083" in report["checks"]["metastore"]["found"]
    assert "hive-site.xml" in report["checks"]["metastore"]["action"]
    for name in ("metastore-client", "tables", *OF_TABLES):
        assert report["checks"][name]["found"] == "not asked here, because the check metastore is bad"
    assert report["checks"]["hdfs"]["outcome"] == "good"


def test_client_of_another_hive(sim: SimulatedCluster, around: Surroundings) -> None:
    """A metastore of Hive 4 answers, but not to the call that each other verb makes."""

    class Hive4(NoMetastore):
        def databases(self) -> list[str]:
            return ["default"]

    client = with_metastore(sim, Hive4("cannot look up x: Invalid method name: 'get_table'"))
    around.server = MetastoreVersions("2.3.9", "4.0.1")
    checks = examined(sim, around, "--table", EVENTS, client=client)["checks"]
    assert checks["metastore"]["outcome"] == "good"
    assert checks["metastore-client"]["outcome"] == "bad"
    assert "of Hive 4.0.1" in checks["metastore-client"]["found"]
    assert "spark.sql.hive.metastore.version" in checks["metastore-client"]["action"]
    assert "metastore-client" in checks["tables"]["found"]
    assert checks["hdfs"]["outcome"] == "good"


class Unreadable:
    """A metastore that lists tables, and has no right to read any."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def table(self, name: Any) -> Any:
        raise LakekeeperError(f"cannot read {name}: Permission denied")


def test_a_database_whose_tables_cannot_be_read(sim: SimulatedCluster, around: Surroundings) -> None:
    """Before: no table was looked at, and rights and trash were good."""
    client = sim.client()
    object.__setattr__(client.cluster, "metastore", Unreadable(client.cluster.metastore))
    checks = examined(sim, around, "--database", "sales", client=client)["checks"]
    assert checks["tables"]["outcome"] == "bad"
    assert "2 others cannot be read: cannot read sales.events: Permission denied" in checks["tables"]["found"]
    for name in OF_TABLES:
        assert checks[name]["found"] == "not asked here, because the check tables is bad"


def test_a_database_without_tables(sim: SimulatedCluster, around: Surroundings) -> None:
    checks = examined(sim, around, "--database", "default")["checks"]
    assert checks["tables"]["found"] == "not asked here, because default has no table that a job works on"
    assert {checks[name]["outcome"] for name in OF_TABLES} == {"not-asked"}


def test_a_check_that_raises_ends_the_report_as_a_failure(
    sim: SimulatedCluster, around: Surroundings
) -> None:
    report, client = Report("doctor", __version__), sim.client()

    def fail(_: Any) -> None:
        raise RuntimeError("a mistake of ours")

    with acting_as(client), pytest.raises(RuntimeError):
        doctor.examine(client.cluster, around, parse("doctor", [], ""), report, fail)
    assert (report.to_json()["outcome"], report.exit_code) == ("failed", 1)


def test_safe_mode(sim: SimulatedCluster, around: Surroundings) -> None:
    around.safe = True
    assert of(sim, around, "hdfs")[0] == "bad"


@pytest.mark.parametrize(
    "lacking",
    [(f"{WAREHOUSE}/events", "-wx"), (f"{AUTHORITY}/elsewhere", "-wx"), (f"{WAREHOUSE}/events/k=a", "r-x")],
)
def test_no_rights(sim: SimulatedCluster, around: Surroundings, lacking: tuple[str, str]) -> None:
    around.denied = {lacking}
    outcome, found, action = of(sim, around, "rights")
    assert outcome == "bad"
    assert f"1 of 5 questions: no access to {lacking[0]}" in found
    assert ME in action


def test_to_write_in_a_partition_is_needed_by_a_permanent_delete_only(
    sim: SimulatedCluster, around: Surroundings
) -> None:
    around.denied = {(f"{WAREHOUSE}/events/k=a", "rwx")}
    assert of(sim, around, "rights")[0] == "good"
    assert (
        examined(sim, around, "--table", EVENTS, "--request", _skip_trash(sim))["checks"]["rights"]["outcome"]
        == "bad"
    )


def _skip_trash(sim: SimulatedCluster) -> str:
    uri = f"{AUTHORITY}/user/{ME}/request.json"
    sim.tree.write(uri, b'{"schema_version": 1, "settings": {"skip_trash": true}}')
    return uri


def test_no_trash(sim: SimulatedCluster, around: Surroundings) -> None:
    sim.tree.trash_on = False
    outcome, found, action = of(sim, around, "trash")
    assert outcome == "bad"
    assert "fs.trash.interval" in found
    assert "skip_trash" in action


def test_no_home_for_the_trash(around: Surroundings) -> None:
    outcome, found, action = of(build(), around, "trash")
    assert (outcome, found.partition(",")[0]) == ("bad", f"{AUTHORITY}/user/{ME} does not exist")
    assert f"hdfs dfs -mkdir -p /user/{ME}" in action


@pytest.mark.parametrize(
    ("quota", "outcome"),
    [
        (Quota(f"{WAREHOUSE}/events", 1000, 990, None, 0), "bad"),
        (Quota(f"{WAREHOUSE}/events", None, 0, 10**9, 9 * 10**8), "bad"),
        (Quota(f"{WAREHOUSE}/events", 1000, 100, 10**12, 0), "good"),
        (Quota(f"{WAREHOUSE}", 1000, 1000, None, 0), "good"),
    ],
)
def test_quota(sim: SimulatedCluster, around: Surroundings, quota: Quota, outcome: str) -> None:
    sim.tree.quotas = {quota.directory: quota}
    found = of(sim, around, "quota")
    assert found[0] == outcome
    assert (quota.directory in found[1]) == (quota.directory != WAREHOUSE)


def test_a_quota_of_a_table_without_partitions_itself(sim: SimulatedCluster, around: Surroundings) -> None:
    """As the jobs: it would move away with the originals, and the table is refused."""
    sim.tree.quotas = {f"{WAREHOUSE}/flat": Quota(f"{WAREHOUSE}/flat", 10**6, 1, None, 0)}
    outcome, found, _ = of(sim, around, "quota", "--table", FLAT)
    assert outcome == "bad"
    assert "itself has a quota" in found


def test_what_the_other_program_has_left(sim: SimulatedCluster, around: Surroundings) -> None:
    sim.tree.write(f"{WAREHOUSE}/events/k=a__old_1772054071/part-0.parquet", b"x", parents=True)
    outcome, found, action = of(sim, around, "lakekeeper-0.0.6")
    assert outcome == "advice"
    assert "k=a__old_1772054071" in found
    assert "troubleshooting" in action


def test_a_request_that_the_driver_cannot_read(sim: SimulatedCluster, around: Surroundings) -> None:
    """`report_dir` is a directory of the worker only: the other checks are made all the same."""
    report = examined(
        sim, around, "--table", EVENTS, "--request", f"{AUTHORITY}/nowhere/request.json", "--report", "x"
    )
    assert report["checks"]["request"]["outcome"] == "bad"
    assert "nowhere" in report["checks"]["request"]["found"]
    assert "report_dir" in report["checks"]["request"]["action"]
    assert report["checks"]["metastore"]["outcome"] == "good"
    assert report["checks"]["tables"]["found"] == "not asked here, because the check request is bad"


def test_a_request_that_the_driver_can_read(sim: SimulatedCluster, around: Surroundings) -> None:
    uri = _skip_trash(sim)
    sim.tree.trash_on = False
    checks = examined(sim, around, "--table", EVENTS, "--request", uri)["checks"]
    assert (checks["request"]["outcome"], checks["trash"]["outcome"]) == ("good", "good")
    assert "skip_trash" in checks["trash"]["found"]


def test_spark_that_does_not_start() -> None:
    report = Report("doctor", __version__, error="Spark does not start: no ticket")
    report.checks = doctor.spark_failed(report.error or "")
    data = json.loads(json.dumps(report.to_json()))
    assert (data["checks"][0]["check"], data["checks"][0]["outcome"]) == ("spark", "bad")
    assert "no ticket" in data["checks"][0]["found"]
    assert report.exit_code == 1
