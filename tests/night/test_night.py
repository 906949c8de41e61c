"""One night for a database with tables of Hive, Iceberg and Paimon, by the shipped maintenance DAG.

The figures of the night are compared with what the metadata of each format says, and directories of Hive tables.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from tests.airflow.live_server import LiveAirflow, LiveRun
from tests.airflow.support import wait_for
from tests.night.conftest import DAG
from tests.night.lake import DATABASE, HIVE, ICEBERG, PAIMON, TABLES, Lake

pytestmark = [pytest.mark.live, pytest.mark.full]

#: A night is a chain of some twenty jobs of Spark, two at a time.
LIMIT = timedelta(minutes=20)
Measured = dict[str, dict[str, Any]]


class Night:
    """A run of the DAG that has ended.

    Args:
        run: that of the DAG
        before: what was measured before it
        after: what was measured after it
    """

    def __init__(self, run: LiveRun, before: Measured, after: Measured) -> None:
        self.run, self.before, self.after = run, before, after

    def value(self, task: str, map_index: int = -1) -> Any:
        """Return the XCom of a task."""
        path = f"{self.run.path}/taskInstances/{task}/xcomEntries/return_value?map_index={map_index}"
        return self.run.airflow.call("GET", path)["value"]

    def tables(self, task: str) -> dict[str, dict[str, Any]]:
        """Return what the mapped tasks say of their tables, by name."""
        indexes = [entry["map_index"] for entry in self.run.tasks(task)]
        found = [table for index in indexes for table in self.value(task, index)["tables"]]
        return {table["table"].partition(".")[2]: table for table in found}

    def index(self, name: str) -> int:
        """Return the number of the mapped rollback of a table."""
        labels = [str(task["rendered_map_index"]) for task in self.run.tasks("rollback")]
        [index] = [number for number, label in enumerate(labels) if label == f"{DATABASE}.{name}"]
        return index

    def roll_back(self, name: str) -> str:
        """Clear the rollback of one table, as a person does; return its state at the end."""
        index = self.index(name)
        self.run.clear(["rollback", index])
        ends(self.run)
        return str(self.run.tasks("rollback")[index]["state"])


def ends(run: LiveRun) -> str:
    return run.end(after=datetime.now(timezone.utc) + LIMIT)


def night(airflow: LiveAirflow, lake: Lake, config: str) -> Night:
    """Let the DAG run now, and measure before and after."""
    before = lake.measure()
    run = airflow.trigger(DAG, database=DATABASE, run_now=True, config_file=config)
    ends(run)
    return Night(run, before, lake.measure())


@pytest.fixture(scope="module")
def first(airflow: LiveAirflow, lake: Lake, config: str) -> Night:
    return night(airflow, lake, config)


def test_all_tables_are_compacted_in_one_night(first: Night) -> None:
    assert first.run.info()["state"] == "success", first.run.states()
    found = first.tables("compact")
    assert {name: table["outcome"] for name, table in found.items()} == dict.fromkeys(TABLES, "done")
    for name in TABLES:
        assert first.before[name]["files"] > first.after[name]["files"] > 0


def test_the_figures_are_those_of_each_formats_own_metadata(first: Night) -> None:
    found = first.tables("compact")
    told = {name: (found[name]["before"]["files"], found[name]["after"]["files"]) for name in TABLES}
    assert told == {name: (first.before[name]["files"], first.after[name]["files"]) for name in TABLES}


def test_one_summary_has_the_sums_of_all_tables(first: Night) -> None:
    summary = first.value("summary")
    assert summary["tables"] == len(TABLES)
    for when, measured in (("before", first.before), ("after", first.after)):
        assert summary[f"files_{when}"] == sum(table["files"] for table in measured.values())


def test_the_rows_are_the_same(first: Night) -> None:
    assert {name: first.after[name]["rows"] for name in TABLES} == {
        name: first.before[name]["rows"] for name in TABLES
    }


def test_the_pages_show_all_tables_of_the_night(first: Night, airflow: LiveAirflow) -> None:
    names = [f"{DATABASE}.{name}" for name in TABLES]
    page = first.run.page()
    assert [name for name in names if name not in page] == []
    wait_for("the list", lambda: all(name in airflow.page("/lakekeeper/") for name in names))


def test_clearing_one_task_rolls_one_table_back(first: Night, lake: Lake) -> None:
    for name in (HIVE[0], ICEBERG[0]):
        assert first.roll_back(name) == "success", first.run.states()
    now = lake.measure()
    restored = (HIVE[0], ICEBERG[0])
    assert {name: now[name]["files"] for name in TABLES} == {
        name: (first.before if name in restored else first.after)[name]["files"] for name in TABLES
    }
    assert all(now[name]["rows"] == first.before[name]["rows"] for name in TABLES)


def test_a_table_with_newer_commits_is_not_rolled_back(first: Night, lake: Lake) -> None:
    name = ICEBERG[1]
    lake.append(1, name)
    before = lake.measure()[name]
    assert first.roll_back(name) == "failed"
    assert "NEWER_COMMITS" in first.run.log("rollback", first.index(name))
    assert lake.measure()[name] == before


def test_paimon_says_that_it_has_no_rollback(first: Night, lake: Lake) -> None:
    before = lake.measure()
    for name in PAIMON:
        assert first.roll_back(name) == "failed"
        assert "NO_ROLLBACK" in first.run.log("rollback", first.index(name))
    assert lake.measure() == before


def test_a_missing_jar_refuses_only_the_tables_that_need_it(
    airflow: LiveAirflow, lake: Lake, config_without_jars: str
) -> None:
    lake.append(6, *TABLES)
    second = night(airflow, lake, config_without_jars)
    assert second.run.info()["state"] == "success", second.run.states()
    analysed = second.tables("analyze")
    refused = {name: table["code"] for name, table in analysed.items() if table["outcome"] == "refused"}
    assert refused == dict.fromkeys((*ICEBERG, *PAIMON), "NO_CATALOG")
    assert {name: table["outcome"] for name, table in second.tables("compact").items()} == dict.fromkeys(
        HIVE, "done"
    )
    assert all(second.after[name]["files"] < second.before[name]["files"] for name in HIVE)
    assert all(second.after[name] == second.before[name] for name in (*ICEBERG, *PAIMON))
