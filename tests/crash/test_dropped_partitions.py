"""What jobs do, and say, of a partition that the metastore dropped during a swap, and perhaps added again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.discovery import discover, follow, job, small, told
from tests.crash.exits import MONTH, killed
from tests.crash.explorer import Act, after, compact, rollback, runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import only, outcomes
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

LIVE = f"{WAREHOUSE}/events/k=a"


def into(point: Point) -> bool:
    """R2: something becomes the live directory."""
    return point.op == "rename" and point.args[1] == LIVE


def out(point: Point) -> bool:
    """R1: the live directory is moved away."""
    return point.op == "rename" and point.args[0] == LIVE


def closes(point: Point) -> bool:
    """The record that closes the interrupted run is published: the last one of the recovery."""
    return point.op == "rename" and "/r1." in point.args[1] and point.args[1].endswith("/000005.json")


def compacted() -> SimulatedCluster:
    return after(small(), [compact(EVENTS)])


def in_the_gap() -> SimulatedCluster:
    """Killed between the renames of k=a, which discovery then drops."""
    sim = killed(Fault.crash_before(into), EVENTS, small())
    discover(sim)
    return sim


def values(sim: SimulatedCluster) -> list[str | None]:
    return [unit.spec[0][1] for unit in sim.units(EVENTS)]


def warnings(report: dict[str, Any], code: str) -> list[str]:
    return [text for text in only(report)["warnings"] if text.startswith(code)]


class TestDroppedByDiscovery:
    def test_an_analysis_flags_it_so_that_a_compaction_of_what_is_flagged_brings_it_back(self) -> None:
        sim = in_the_gap()
        report = run(sim.client(), "analyze", "--table", EVENTS, "--min-input-files", "99")
        flagged = [unit["unit"] for unit in only(report)["units"] if unit["outcome"] == "flagged"]
        assert flagged == [{"k": "a"}], "nothing else is to be compacted"
        request = {"schema_version": 1, "units": {EVENTS: flagged}}
        report = run(sim.client(), "compact", "--table", EVENTS, "--run-id", "next", request=request)
        discover(sim)
        assert (report["exit_code"], check(sim)) == (0, [])

    def test_a_rollback_of_a_partition_without_a_directory_that_dies_is_finished(self) -> None:
        """The person wants these rows: nobody has dropped the partition together with its directory."""
        sim = compacted()
        before = live_rows(sim, EVENTS)
        sim.tree.remove(LIVE, recursive=True)
        with pytest.raises(Killed):
            rollback(EVENTS)(sim.client(Fault.crash_before(into)))
        discover(sim)
        job(sim, compact(EVENTS, "next"))
        discover(sim)
        assert live_rows(sim, EVENTS) == before

    def test_a_kill_right_after_the_run_is_closed_hides_nothing(self) -> None:
        """What the job had to say is in its log: no later one looks at the run again."""
        sim = in_the_gap()
        with pytest.raises(Killed), told() as texts:
            run(sim.client(Fault.crash_after(closes)), "compact", "--table", EVENTS, "--run-id", "next")
        assert any("PARTITION_UNREGISTERED" in text and f"LOCATION '{LIVE}'" in text for text in texts)

    def test_outside_the_root_the_statement_has_its_location(self) -> None:
        sim = small()
        place = writers.location_of(sim, EVENTS, "c")
        gap = Fault.crash_before(lambda point: point.op == "rename" and point.args[1] == place)
        sim = killed(gap, EVENTS, sim)
        discover(sim)
        texts = warnings(
            run(sim.client(), "compact", "--table", EVENTS, "--run-id", "next"), "PARTITION_UNREG"
        )
        statement = f"ALTER TABLE {EVENTS} ADD PARTITION (`k`='c') LOCATION '{place}'"
        assert [statement in text and "no discovery finds it" in text for text in texts] == [True]

    def test_outside_the_root_the_statement_is_there_although_the_metastore_does_not_answer(self) -> None:
        sim = small()
        place = writers.location_of(sim, EVENTS, "c")
        asked = [point.number for point in traced(sim, compact(EVENTS)) if point.op == "units"][-1]
        report = compact(EVENTS)(sim.client(Fault.error_before(asked)))
        texts = warnings(report, "PARTITIONS_NOT_CHECKED")
        assert any(f"LOCATION '{place}'" in text for text in texts)
        assert not any(f"LOCATION '{LIVE}'" in text for text in texts)

    def test_at_another_place_of_the_same_values_both_places_are_named(self) -> None:
        sim = small()
        place, other = writers.location_of(sim, EVENTS, "c"), f"{WAREHOUSE}/events/k=c"
        writers.append(sim, other, sim.ledger.fresh(1))
        gap = Fault.crash_before(lambda point: point.op == "rename" and point.args[1] == place)
        sim = killed(gap, EVENTS, sim)
        discover(sim)
        discover(sim)
        assert writers.location_of(sim, EVENTS, "c") == other
        texts = warnings(
            run(sim.client(), "compact", "--table", EVENTS, "--run-id", "next"), "PARTITION_UNREG"
        )
        assert [f"SET LOCATION '{place}'" in text and other in text for text in texts] == [True]


def traced(sim: SimulatedCluster, act: Act) -> list[Point]:
    client = sim.copy().client()
    act(client)
    return client.trace


class TestDroppedWithItsDirectory:
    """A person, or a retention, has deleted the rows: they do not come back, and the message has the command."""

    def dropped(self, verb: str) -> tuple[SimulatedCluster, dict[str, Any]]:
        sim = small() if verb == "compact" else compacted()
        drop = partial(writers.drop_partition, sim, EVENTS, "a", delete_data=True)
        if verb == "rollback":
            return sim, rollback(EVENTS)(sim.client(Fault.hook(out, drop)))
        sim = killed(Fault.crash_after(into), EVENTS, sim)
        drop()
        return sim, run(sim.client(), "compact", "--table", EVENTS, "--run-id", "next")

    @pytest.mark.parametrize("verb", ["compact", "rollback"])
    def test_its_rows_stay_away(self, verb: str) -> None:
        sim, _ = self.dropped(verb)
        discover(sim)
        assert values(sim) == ["c"]
        assert check(sim, resurrected=True) == []

    def test_its_rows_stay_away_from_a_rollback_that_has_begun(self) -> None:
        """The rollback has read the partition before, and finds no directory."""
        sim = compacted()
        number = next(point.number for point in traced(sim, rollback(EVENTS)) if point.op == "list")
        drop = partial(writers.drop_partition, sim, EVENTS, "a", delete_data=True)
        report = rollback(EVENTS)(sim.client(Fault.hook(number, drop)))
        discover(sim)
        assert (values(sim), check(sim, resurrected=True)) == (["c"], [])
        follow(sim, warnings(report, "PARTITION_UNREGISTERED"))
        assert live_rows(sim, EVENTS).keys() >= {1, 2}

    @pytest.mark.parametrize("verb", ["compact", "rollback"])
    def test_the_message_leads_to_them(self, verb: str) -> None:
        sim, report = self.dropped(verb)
        (text,) = warnings(report, "PARTITION_UNREGISTERED")
        assert f"lakekeeper cleanup --table {EVENTS}" in text
        follow(sim, [text])
        assert values(sim) == ["a", "c"]
        assert live_rows(sim, EVENTS).keys() >= {1, 2}

    def test_the_reason_of_a_rollback_has_the_command_too(self) -> None:
        _, report = self.dropped("rollback")
        (unit,) = [unit for unit in only(report)["units"] if unit["outcome"] == "failed"]
        assert "ADD PARTITION" in unit["reason"]
        assert "lakekeeper rollback" in unit["reason"]

    def test_the_retention_begins_when_it_is_said(self) -> None:
        """The compaction was long ago; a rollback of it has died, and nobody has been told yet."""
        sim = compacted()
        sim.advance(MONTH)
        with pytest.raises(Killed):
            rollback(EVENTS)(sim.client(Fault.crash_before(out)))
        writers.drop_partition(sim, EVENTS, "a", delete_data=True)
        clean = ("cleanup", "--table", EVENTS, "--older-than", "7d", "--skip-trash")
        first = run(sim.client(), *clean)
        assert "a" not in [unit["unit"]["k"] for unit in only(first)["units"] if unit["outcome"] == "cleaned"]
        follow(sim, warnings(first, "PARTITION_UNREGISTERED"))
        assert live_rows(sim, EVENTS).keys() >= {1, 2}

    def test_after_the_retention_its_originals_are_deleted(self) -> None:
        sim, _ = self.dropped("compact")
        sim.advance(MONTH)
        assert "cleaned" in outcomes(run(sim.client(), "cleanup", "--table", EVENTS, "--older-than", "7d"))
        assert old(sim) == []


def old(sim: SimulatedCluster) -> list[str]:
    paths = [run.path(unit.swap.old) for run in runs_of(sim, [EVENTS]) for unit in run.state.units.values()]
    return [path for path in paths if path.endswith("k=a") and sim.tree.find(path) is not None]


class TestDroppedAndAddedAgain:
    def readded(self, sim: SimulatedCluster) -> dict[str, Any]:
        """Discovery drops k=a between the renames of a job, and finds it again right after."""

        def back(point: Point) -> bool:
            return point.op != "rename" and sim.tree.find(LIVE) is not None and "a" not in values(sim)

        faults = Fault.hook(into, lambda: discover(sim)), Fault.hook(back, lambda: discover(sim))
        return run(sim.client(*faults), "compact", "--table", EVENTS, "--run-id", "r1")

    def test_what_does_not_come_back_is_named(self) -> None:
        sim = small()
        set_parameters(sim, {"owner.team": "sales", "numRows": "12"})
        report = self.readded(sim)
        assert report["exit_code"] == 0
        (text,) = warnings(report, "PARTITION_READDED")
        assert "the parameters owner.team" in text
        assert check(sim) == []

    def test_after_a_kill_the_next_job_says_it(self) -> None:
        sim = in_the_gap()
        sim.tree.make_dirs(LIVE)
        discover(sim)
        sim.tree.remove(LIVE)
        assert values(sim) == ["a", "c"]
        report = run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")
        assert len(warnings(report, "PARTITION_READDED")) == 1

    def test_nothing_is_said_of_partitions_that_stay(self) -> None:
        sim = small()
        texts = [
            text
            for act in (compact(EVENTS), rollback(EVENTS), compact(EVENTS, "r2"))
            for text in job(sim, act)
        ]
        assert [text for text in texts if "PARTITION" in text] == []

    def test_of_a_journal_without_the_time_nothing_is_said(self) -> None:
        """Releases before have not recorded when the metastore had made the partition."""
        sim = small()
        table = sim.metastore.get(TableName.parse(EVENTS))
        sim.metastore.put(TableName.parse(EVENTS), replace(table, created={}))
        assert warnings(self.readded(sim), "PARTITION_") == []


def set_parameters(sim: SimulatedCluster, parameters: dict[str, str]) -> None:
    name = TableName.parse(EVENTS)
    table = sim.metastore.get(name)
    spec = writers.spec_of(sim, EVENTS, ("a",))
    sim.metastore.put(name, replace(table, parameters={spec: parameters}))


def test_the_metastore_is_asked_once_and_nothing_else() -> None:
    """Of partitions that it has kept."""
    sim = small()
    trace = traced(sim, compact(EVENTS))
    ends = [point.number for point in trace if point.op == "units"]
    assert len(ends) == 2, "once for the plan, once at the end"
    following = trace[ends[-1] :]
    assert not [point for point in following if point.op == "identity" and point.args[0] == LIVE]
