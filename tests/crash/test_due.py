"""`idle_for` and the trigger conditions: what is due, by which calls, and what a killed or late job makes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.planning.survey import decode_survey, encode_survey
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.oracle import check
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.test_calls import LATER, WIDE, done, units_in, wide

ROOT = f"{WAREHOUSE}/wide"
SURVEYS = f"{ROOT}/.lakekeeper/log/survey"
DAY = 86_400


def append(sim: SimulatedCluster, unit: str, files: int = 1) -> None:
    for _ in range(files):
        writers.append(sim, f"{ROOT}/k={unit}", sim.ledger.fresh(1))


def units(report: Mapping[str, Any]) -> dict[str, str]:
    return {unit["unit"]["k"]: unit["outcome"] for unit in report["units"]}


def reasons(report: Mapping[str, Any]) -> dict[str, str | None]:
    return {unit["unit"]["k"]: unit["reason"] for unit in report["units"]}


def compacted_once(partitions: int) -> SimulatedCluster:
    """A table whose partitions were compacted, and then got two more files each, all of them two hours old."""
    sim = wide(partitions)
    done(sim, "compact", "--run-id", "first")
    for number in range(partitions):
        append(sim, f"{number:04}", 2)
    sim.advance(LATER)
    return sim


class TestIdleFor:
    def test_a_unit_that_is_too_young_is_healthy_and_stays_as_it_is(self) -> None:
        sim = wide(3)
        append(sim, "0001")
        expected = {"0000": "flagged", "0001": "healthy", "0002": "flagged"}
        young = "its newest file is 0s old; idle_for is 1h"
        for verb in (("analyze",), ("compact", "--dry-run", "--run-id", "r")):
            report, _, _ = done(sim, *verb, "--idle-for", "1h")
            assert units(report) == expected
            assert reasons(report) == {"0000": None, "0001": young, "0002": None}
        report, _, _ = done(sim, "compact", "--run-id", "r", "--idle-for", "60m")
        assert units(report) == {"0000": "compacted", "0001": "healthy", "0002": "compacted"}
        assert check(sim) == []
        sim.advance(3600)
        report, _, _ = done(sim, "compact", "--run-id", "s", "--idle-for", "60m")
        assert units(report)["0001"] == "compacted"

    def test_a_file_that_is_added_after_the_plan_calls_its_unit_off(self) -> None:
        sim = wide(3)

        def meanwhile(_: int, phase: str, now: SimulatedCluster) -> None:
            if phase == "before" and client.trace[-1].op == "mkdirs" and not added:
                added.append(True)
                append(now, "0001")

        added: list[bool] = []
        client = sim.client(observer=meanwhile)
        report = run(client, "compact", "--table", WIDE, "--run-id", "r", "--idle-for", "1h")["tables"][0]
        assert units(report) == {"0000": "compacted", "0001": "changed", "0002": "compacted"}
        young = "since it was planned, a file was added: its newest file is 0s old; idle_for is 1h"
        assert reasons(report)["0001"] == young
        assert check(sim) == []

    def test_it_is_judged_of_units_that_an_analysis_has_flagged(self) -> None:
        sim = wide(3)
        append(sim, "0001")
        request = {
            "schema_version": 1,
            "arguments": {"idle_for": "1h"},
            "units": {WIDE: [{"k": "0000"}, {"k": "0001"}]},
        }
        report = run(sim.client(), "compact", "--table", WIDE, "--run-id", "r", request=request)["tables"][0]
        assert units(report) == {"0000": "compacted", "0001": "healthy"}


NOT_DUE = [
    ("--idle-for", "7d"),
    ("--trigger-unit-files", "5"),
    ("--trigger-small-files", "1000"),
    ("--trigger-growth", "1000"),
    ("--trigger-interval", "30d"),
    ("--trigger-average-size", "1b"),
    ("--trigger", "any", "--trigger-unit-files", "5", "--trigger-interval", "30d"),
]
DUE = [
    ("--idle-for", "1h"),
    ("--trigger-unit-files", "3", "--trigger-small-files", "9"),
    ("--trigger-growth", "6", "--trigger-interval", "2h"),
    ("--trigger", "any", "--trigger-unit-files", "5", "--trigger-interval", "1h"),
    ("--trigger-average-size", "1mb"),
]


class TestCalls:
    @pytest.mark.parametrize("flags", NOT_DUE)
    def test_a_second_analysis_lists_and_reads_no_unit_that_is_not_due(self, flags: tuple[str, ...]) -> None:
        counts = []
        for partitions in (3, 6):
            sim = compacted_once(partitions)
            first, calls, _ = done(sim, "analyze", *flags)
            assert (set(units(first).values()), calls["footers"]) == ({"healthy"}, 0)
            assert None not in reasons(first).values()
            second, calls, listed = done(sim, "analyze", *flags)
            assert (second, units_in(listed), calls["footers"]) == (first, [], 0)
            counts.append(calls.total())
        assert counts[0] == counts[1]

    @pytest.mark.parametrize("flags", DUE)
    def test_a_second_analysis_lists_and_reads_no_unit_that_is_due(self, flags: tuple[str, ...]) -> None:
        sim = compacted_once(3)
        first, _, _ = done(sim, "analyze", *flags)
        assert set(units(first).values()) == {"flagged"}
        second, calls, listed = done(sim, "analyze", *flags)
        assert (second, units_in(listed), calls["footers"]) == (first, [], 0)

    def test_units_that_become_due_are_listed_and_their_footers_read(self) -> None:
        sim = wide(4)
        flags = ("--trigger-small-files", "9")
        found, calls, listed = done(sim, "analyze", *flags)
        assert (set(units(found).values()), len(units_in(listed)), calls["footers"]) == ({"healthy"}, 4, 0)
        append(sim, "0002")
        found, calls, listed = done(sim, "analyze", *flags)
        assert (set(units(found).values()), len(units_in(listed)), calls["footers"]) == ({"flagged"}, 4, 1)
        assert [unit["files"] for unit in found["units"]] == [2, 2, 3, 2]

    def test_units_without_figures_are_listed_once_more(self) -> None:
        sim = wide(3)
        done(sim, "analyze")
        path = f"{SURVEYS}/analysis-000001"
        known = decode_survey(sim.client().fs.read(path), path)
        earlier = {key: replace(unit, figures=None) for key, unit in known.items()}
        sim.tree.write(path, encode_survey(earlier), overwrite=True)
        for flags in (("--idle-for", "1h"), ("--trigger-small-files", "6"), ("--trigger-unit-files", "2")):
            again = sim.copy()
            report, _, listed = done(again, "analyze", *flags)
            assert (set(units(report).values()), len(units_in(listed))) == ({"flagged"}, 3)
            assert units_in(done(again, "analyze", *flags)[2]) == []

    def test_small_files_are_counted_again_by_another_threshold(self) -> None:
        sim = wide(3)
        done(sim, "analyze", "--trigger-small-files", "6")
        _, _, listed = done(sim, "analyze", "--trigger-small-files", "6", "--ratio-threshold", "20")
        assert len(units_in(listed)) == 3


class TestTriggers:
    def logged(self, sim: SimulatedCluster) -> list[dict[str, Any]]:
        folder = sim.tree.get(f"{ROOT}/.lakekeeper/log/snapshot")
        assert folder
        names = [name for name in folder.children if name.startswith("snapshot-")]
        return [json.loads(sim.client().fs.read(f"{ROOT}/.lakekeeper/log/snapshot/{name}")) for name in names]

    def test_a_compaction_leaves_alone_what_is_not_due(self) -> None:
        sim = wide(3)
        append(sim, "0001", 3)
        report, _, _ = done(sim, "compact", "--run-id", "r", "--trigger-unit-files", "5")
        assert units(report) == {"0000": "healthy", "0001": "compacted", "0002": "healthy"}
        assert reasons(report)["0000"] == "trigger_unit_files is 5, and it has 2 files"
        report, _, _ = done(sim, "compact", "--run-id", "s", "--trigger-interval", "1d")
        assert (report["outcome"], set(units(report).values())) == ("nothing", {"healthy"})
        assert check(sim) == []

    def test_growth_is_what_no_compaction_has_written(self) -> None:
        """Each of three units has one file of a compaction, and two files besides."""
        sim = compacted_once(3)
        assert set(units(done(sim, "analyze", "--trigger-growth", "6")[0]).values()) == {"flagged"}
        found = reasons(done(sim, "analyze", "--trigger-growth", "7")[0])
        assert set(found.values()) == {
            "trigger_growth is 7, and 6 files were added since the last compaction"
        }

    def test_after_a_rollback_all_files_are_growth_again(self) -> None:
        sim = wide(3)
        done(sim, "compact", "--run-id", "first")
        done(sim, "rollback")
        assert set(units(done(sim, "analyze", "--trigger-growth", "6")[0]).values()) == {"flagged"}
        found = set(reasons(done(sim, "analyze", "--trigger-growth", "7")[0]).values())
        assert found == {"trigger_growth is 7, and 6 files were added since the last compaction"}

    def test_the_last_compaction_is_known_after_its_run_was_folded(self) -> None:
        """Then its snapshot is not in the commit log any more, but in the record of settled runs."""
        sim = compacted_once(2)
        done(sim, "cleanup")
        sim.advance(2 * DAY)
        # A run that comes too late swaps nothing, and folds the other one.
        late = ("--run-id", "late", "--where", "k = '0000'", "--deadline", "2020-01-01T00:00:00Z")
        run(sim.client(), "compact", "--table", WIDE, *late)
        assert [row["kind"] for row in self.logged(sim)] == ["cleanup"]
        found = reasons(done(sim, "analyze", "--trigger-interval", "60d")[0])
        assert found["0001"] == "trigger_interval is 60d, and the last compaction was 2d ago"
        assert units(done(sim, "analyze", "--trigger-growth", "4")[0])["0001"] == "flagged"
        assert units(done(sim, "analyze", "--trigger-growth", "5")[0])["0001"] == "healthy"

    def test_a_deferred_unit_stays_due_after_the_compaction_that_left_it(self) -> None:
        sim = compacted_once(3)
        flags = ("--trigger-interval", "1h", "--trigger-small-files", "9")
        report, _, _ = done(sim, "compact", "--run-id", "r", "--max-units", "1", *flags)
        assert sorted(units(report).values()) == ["compacted", "deferred", "deferred"]
        report, _, _ = done(sim, "compact", "--run-id", "s", *flags)
        assert sorted(units(report).values()) == ["compacted", "compacted", "healthy"]
        assert check(sim) == []

    def test_they_may_be_properties_of_the_table(self) -> None:
        sim = wide(2)
        table = sim.metastore.databases["sales"]["wide"]
        facts = replace(table.facts, properties={"lakekeeper.trigger_unit_files": "3"})
        sim.metastore.databases["sales"]["wide"] = replace(table, facts=facts)
        assert set(units(done(sim, "analyze")[0]).values()) == {"healthy"}
        assert set(units(done(sim, "analyze", "--trigger-unit-files", "2")[0]).values()) == {"flagged"}

    def test_a_compaction_of_some_flagged_units_does_not_judge_the_table_again(self) -> None:
        """By two of three units alone there would be too few small files."""
        sim = wide(3)
        flags = ("--trigger-small-files", "6")
        assert set(units(done(sim, "analyze", *flags)[0]).values()) == {"flagged"}
        request = {"schema_version": 1, "units": {WIDE: [{"k": "0000"}, {"k": "0002"}]}}
        argv = ("--table", WIDE, "--run-id", "r", *flags)
        report = run(sim.client(), "compact", *argv, request=request)["tables"][0]
        assert units(report) == {"0000": "compacted", "0002": "compacted"}

    def test_a_log_that_cannot_be_read_holds_back_nothing(self) -> None:
        sim = compacted_once(2)
        sim.tree.write(f"{ROOT}/.lakekeeper/log/snapshot/snapshot-1", b"torn", overwrite=True)
        found = done(sim, "analyze", "--trigger-interval", "30d")[0]
        assert set(units(found).values()) == {"flagged"}


#: The table has more units than one wave, so that a job may die when it has swapped some and not begun with others.
UNITS = 6
#: Conditions of the table that hold exactly if no unit of it is compacted yet.
EXACT = (
    *(
        "--trigger-small-files",
        str(3 * UNITS),
        "--trigger-growth",
        str(2 * UNITS),
        "--trigger-interval",
        "1h",
    ),
    *("--idle-for", "1h", "--parallelism", "1", "--verify", "hash"),
)


def compact(client: Client) -> dict[str, Any]:
    return run(client, "compact", "--table", WIDE, "--run-id", "r", *EXACT)


class TestCrashes:
    def test_a_retry_finishes_what_was_due_when_its_run_began(self) -> None:
        start = compacted_once(UNITS)
        states = list(crash_states(start, compact))
        for state in states:
            state.sim.advance(60)
            report = compact(state.sim.client())
            assert report["exit_code"] == 0, (state, report)
            assert check(state.sim) == [], state
            found, _, _ = done(state.sim, "analyze")
            assert set(units(found).values()) == {"healthy"}, (state, found)
        assert len(states) > 20

    def test_units_of_unfinished_runs_are_flagged_whether_they_are_due_or_not(self) -> None:
        seen = 0
        for state in crash_states(wide(2), lambda client: run(client, "compact", "--table", WIDE)):
            plain = reasons(done(state.sim.copy(), "analyze")[0])
            held = done(state.sim, "analyze", "--trigger-unit-files", "99", "--idle-for", "99d")[0]
            broken = {key for key, reason in plain.items() if reason}
            assert {key for key, outcome in units(held).items() if outcome == "flagged"} == broken, state
            seen += len(broken)
        assert seen > 0
