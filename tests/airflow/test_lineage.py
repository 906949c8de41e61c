"""What OpenLineage is told by a task, read from the file of its own transport."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lakekeeper_provider.events import lineage
from lakekeeper_provider.report import report
from tests.airflow.conftest import ROOT, connection

DAG = "lakekeeper_on_demand"
TABLE = {
    "table": "sales.events",
    "outcome": "done",
    "location": "hdfs://nn:8020/data/events",
    "before": {"files": 600, "bytes": 9000},
    "after": {"files": 3, "bytes": 8000},
    "rows": 40,
}


def found(verb: str, outcome: str) -> Any:
    units = [{"unit": {"d": "1"}, "outcome": outcome, "files_after": 3, "bytes_after": 8000}]
    content = {"schema_version": 1, "verb": verb, "outcome": "done", "tables": [{**TABLE, "units": units}]}
    return lineage.of(report.parse(json.dumps(content), verb), "hs2:10000")


def names(datasets: list[Any]) -> list[tuple[str, str]]:
    return [(dataset.namespace, dataset.name) for dataset in datasets]


@pytest.mark.parametrize(
    ("verb", "outcome", "inputs", "outputs"),
    [
        ("analyze", "flagged", 1, 0),
        ("compact", "compacted", 1, 1),
        ("compact", "skipped", 1, 0),
        ("rollback", "restored", 1, 1),
        ("cleanup", "cleaned", 0, 0),
    ],
)
def test_a_table_is_an_output_where_its_files_were_written(verb, outcome, inputs, outputs):
    told, table = found(verb, outcome), [("hive://hs2:10000", "sales.events")]
    assert (names(told.inputs), names(told.outputs)) == (inputs * table, outputs * table)


def test_the_location_is_another_name_of_the_table():
    (table,) = found("compact", "compacted").outputs
    (location,) = table.facets["symlinks"].identifiers
    assert (location.namespace, location.name) == ("hdfs://nn:8020", "/data/events")
    assert table.outputFacets["outputStatistics"].fileCount == 3


def test_a_path_with_odd_characters_is_whole_and_a_refused_table_is_no_input():
    odd = {**TABLE, "location": "hdfs://nn/a#b?c"}
    content = {
        "schema_version": 1,
        "verb": "compact",
        "outcome": "done",
        "tables": [odd, {**TABLE, "outcome": "refused"}],
    }
    (table,) = lineage.of(report.parse(json.dumps(content), "compact"), "hs2:10000").inputs
    assert table.facets["symlinks"].identifiers[0].name == "/a#b?c"


@pytest.fixture
def events(airflow_db: Path, spark: Any, tmp_path: Path) -> list[dict[str, Any]]:
    """The events of a DAG run, as the file transport has written them."""
    file = tmp_path / "lineage.json"
    environ = {
        **os.environ,
        "AIRFLOW_CONN_SPARK_DEFAULT": connection(),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(
            {"type": "file", "log_file_path": str(file), "append": True}
        ),
        "PYTHONPATH": str(ROOT),
    }
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("hive_server: hs2.example.com:10000\n")
    form = {"table": "sales.events", "action": "compact", "dry_run": False, "config_file": str(config)}
    command = [sys.executable, "-m", "airflow", "dags", "test", DAG, "-c", json.dumps(form)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_file_transport_holds_the_facet_of_the_run(events):
    (event,) = [
        event
        for event in events
        if event["eventType"] == "COMPLETE" and event["job"]["name"] == f"{DAG}.compact"
    ]
    facet = event["run"]["facets"]["lakekeeper"]
    assert (facet["verb"], facet["outcome"]) == ("compact", "done")
    (table,) = facet["tables"]
    assert (table["table"], table["filesBefore"], table["filesAfter"]) == ("sales.events", 600, 3)
    for datasets in (event["inputs"], event["outputs"]):
        assert [(each["namespace"], each["name"]) for each in datasets] == [
            ("hive://hs2.example.com:10000", "sales.events")
        ]
