"""Names that say something: summaries of files, and the offsets of Kafka Connect."""

from __future__ import annotations

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash.flat_table import LIVE, compact, only
from tests.crash.model_spark import encode_rows
from tests.crash.oracle import check
from tests.crash.other_writers.pending_files import DAY, PENDING, cleanup, put, rollback, took_along
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata"])
@pytest.mark.parametrize("place", [f"{WAREHOUSE}/events", f"{WAREHOUSE}/events/k=a"])
def test_summary_files_are_a_refusal(sim: SimulatedCluster, place: str, name: str) -> None:
    put(sim, f"{place}/{name}", b"PAR1")
    sim.advance(2 * DAY)
    units = only(run(sim.client(), "compact", "--table", EVENTS))["units"]
    codes = {unit["unit"]["k"]: unit["code"] for unit in units}
    above = place.endswith("events")
    assert codes == {"a": "PARQUET_SUMMARY", "b": "PARQUET_SUMMARY" if above else None, "c": None}


def test_names_of_kafka_connect_are_a_refusal(sim: SimulatedCluster) -> None:
    ids = sim.ledger.fresh(3)
    put(sim, f"{LIVE}/orders+0+0000000000+0000000002.parquet", encode_rows(ids))
    sim.ledger.committed.update(ids)
    assert only(compact(sim.client()))["code"] == "OFFSETS_IN_NAMES"
    facts = sim.metastore.get(TableName.parse(FLAT)).facts
    facts.properties["lakekeeper.kafka_connect"] = "retired"  # type: ignore[index]
    report = run(sim.client(), "compact", "--table", FLAT)
    assert only(report)["outcome"] == "done"
    assert check(sim) == []


def test_a_summary_with_the_originals_does_not_return(sim: SimulatedCluster) -> None:
    put(sim, PENDING, b"PAR1")
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim, "_metadata")
    assert cleanup(sim.client())["exit_code"] == 0
    assert sim.tree.find(f"{LIVE}/_metadata") is None


@pytest.mark.parametrize("name", ["_metadata", "orders+0+0000000000+0000000002.parquet"])
def test_a_rollback_leaves_alone_what_a_compaction_would(sim: SimulatedCluster, name: str) -> None:
    compact(sim.client())
    put(sim, f"{LIVE}/{name}", b"PAR1")
    (unit,) = only(rollback(sim.client()))["units"]
    assert (unit["outcome"], unit["code"]) == (
        "failed",
        "PARQUET_SUMMARY" if name == "_metadata" else "OFFSETS_IN_NAMES",
    )
