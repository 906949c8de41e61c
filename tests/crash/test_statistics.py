"""Statistics in the metastore: right after a compaction on request, as before after a rollback; whoever dies when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.values.model import Spec, TableName, Unit
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import LIVE, append, compact, only, outcomes, roll_back
from tests.crash.model_metastore import forget_partitions
from tests.crash.model_parameters import change_parameters, counted
from tests.crash.model_spark import ModelRewriter
from tests.crash.oracle import check as rows_lost
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster

#: What Hive knows of the columns, and what a person has noted.
OTHERS = {
    "numRows": "12",
    "rawDataSize": "12",
    "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}',
    "note": "x",
}
BEFORE = {**OTHERS, "numFiles": "4", "totalSize": "400"}
FIGURES = ("numFiles", "totalSize")


@pytest.fixture
def described() -> SimulatedCluster:
    """Tables of which the metastore has statistics."""
    sim = build()
    for table in (EVENTS, FLAT):
        units = sim.metastore.get(TableName.parse(table)).units()
        change_parameters(sim, TableName.parse(table), {unit.spec: BEFORE for unit in units})
    return sim


def parameters(sim: SimulatedCluster, table: str = FLAT) -> dict[Spec, Mapping[str, str]]:
    return dict(sim.metastore.get(TableName.parse(table)).parameters)


def units(sim: SimulatedCluster, table: str) -> list[Unit]:
    return sim.metastore.get(TableName.parse(table)).units()


def as_before(sim: SimulatedCluster, table: str = FLAT) -> bool:
    return set(map(repr, map(sorted, map(dict.items, parameters(sim, table).values())))) == {  # type: ignore[arg-type]
        repr(sorted(BEFORE.items()))
    }


def right(sim: SimulatedCluster, table: str = FLAT) -> bool:
    """The figures of files are those of the files, and all else is as it was."""
    found = parameters(sim, table)
    return all(found[unit.spec] == {**OTHERS, **counted(sim, unit.location)} for unit in units(sim, table))


def warned(report: dict[str, Any], code: str = "STATISTICS_NOT_UPDATED") -> list[str]:
    return [text for text in only(report)["warnings"] if text.startswith(f"{code}: ")]


def asks(point: Point) -> bool:
    return point.op == "parameters"


def writes(point: Point) -> bool:
    return point.op == "set_parameters"


class SecondTime:
    """The second read of the parameters, directly before they are written."""

    def __init__(self) -> None:
        self._times = 0

    def __call__(self, point: Point) -> bool:
        self._times += asks(point)
        return asks(point) and self._times == 2


@pytest.mark.parametrize("table", [FLAT, EVENTS])
class TestOnRequest:
    def test_figures_of_files_are_set_and_nothing_else(self, described: SimulatedCluster, table: str) -> None:
        report = compact(described.client(), table, "r1", "--file-stats")
        assert set(outcomes(report)) == {"compacted"}
        assert right(described, table)
        assert warned(report) == []

    def test_nothing_is_asked_by_default(self, described: SimulatedCluster, table: str) -> None:
        client = described.client()
        compact(client, table)
        assert as_before(described, table)
        assert not any(asks(point) or writes(point) for point in client.trace)

    def test_a_rollback_puts_back_what_was_there(self, described: SimulatedCluster, table: str) -> None:
        compact(described.client(), table, "r1", "--file-stats")
        report = roll_back(described, table)
        assert set(outcomes(report)) == {"restored"}
        assert as_before(described, table)
        assert warned(report) == []

    def test_a_version_that_does_not_know_the_record_rolls_back(
        self, described: SimulatedCluster, table: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compact(described.client(), table, "r1", "--file-stats")
        monkeypatch.setattr(journal, "STATISTICS", "NOT_KNOWN")
        assert set(outcomes(roll_back(described, table))) == {"restored"}

    def test_a_rollback_removes_what_was_not_there(self, table: str) -> None:
        sim = build()
        compact(sim.client(), table, "r1", "--file-stats")
        assert parameters(sim, table)
        roll_back(sim, table)
        assert not any(parameters(sim, table).values())

    def test_a_rollback_puts_back_what_an_analysis_has_changed(
        self, described: SimulatedCluster, table: str
    ) -> None:
        compact(described.client(), table, "r1", "--analyze-stats")
        assert "COLUMN_STATS_ACCURATE" not in next(iter(parameters(described, table).values()))
        roll_back(described, table)
        assert as_before(described, table)

    def test_both_options_together(self, described: SimulatedCluster, table: str) -> None:
        compact(described.client(), table, "r1", "--analyze-stats", "--file-stats")
        for unit in units(described, table):
            assert (
                parameters(described, table)[unit.spec].items() >= counted(described, unit.location).items()
            )
        roll_back(described, table)
        assert as_before(described, table)

    def test_three_calls_for_all_units(self, described: SimulatedCluster, table: str) -> None:
        """Also those of partitions outside the root, whose records are elsewhere."""
        client = described.client()
        compact(client, table, "r1", "--file-stats")
        assert [point.op for point in client.trace if asks(point) or writes(point)] == [
            "parameters",
            "parameters",
            "set_parameters",
        ]


class TestOthers:
    def test_files_that_a_writer_adds_meanwhile_count(self, described: SimulatedCluster) -> None:
        hook = Fault.hook(lambda point: point.op == "create_backup", append(described))
        compact(described.client(hook), FLAT, "r1", "--file-stats")
        assert right(described)
        assert parameters(described)[()]["numFiles"] == "2"

    @pytest.mark.parametrize("value", ["note", "numFiles"])
    def test_a_unit_that_somebody_changes_meanwhile_is_left_alone(
        self, described: SimulatedCluster, value: str
    ) -> None:
        name, a, b = TableName.parse(EVENTS), (("k", "a"),), (("k", "b"),)
        hook = Fault.hook(SecondTime(), lambda: change_parameters(described, name, {a: {value: "99"}}))
        report = compact(described.client(hook), EVENTS, "r1", "--file-stats")
        assert set(outcomes(report)) == {"compacted"}
        assert [text.split(": ")[1] for text in warned(report)] == ["k=a"]
        assert parameters(described, EVENTS)[a] == {**BEFORE, value: "99"}
        assert parameters(described, EVENTS)[b]["numFiles"] == "1"

    def test_a_partition_that_is_at_another_place_meanwhile_is_left_alone(
        self, described: SimulatedCluster
    ) -> None:
        name, a = TableName.parse(EVENTS), (("k", "a"),)

        def moved() -> None:
            forget_partitions(described, name, [a])
            writers.add_partition(described, EVENTS, "a", location=f"{LIVE}-elsewhere")
            change_parameters(described, name, {a: BEFORE})

        report = compact(described.client(Fault.hook(SecondTime(), moved)), EVENTS, "r1", "--file-stats")
        assert [text.split(": ")[1] for text in warned(report)] == ["k=a"]
        assert parameters(described, EVENTS)[a] == BEFORE

    @pytest.mark.parametrize("what", [asks, writes, SecondTime])
    @pytest.mark.parametrize("kind", [Fault.error_before, Fault.error_after])
    def test_an_error_of_the_metastore_is_a_warning(
        self, described: SimulatedCluster, what: Any, kind: Any
    ) -> None:
        fault = kind(what() if what is SecondTime else what)
        report = compact(described.client(fault), EVENTS, "r1", "--file-stats")
        assert (report["outcome"], report["exit_code"]) == ("done", 0)
        assert len(warned(report)) == 1
        assert as_before(described, EVENTS) or right(described, EVENTS)
        roll_back(described, EVENTS)
        assert as_before(described, EVENTS)

    def test_without_a_record_of_what_was_there_nothing_is_analyzed(
        self, described: SimulatedCluster
    ) -> None:
        client = described.client(Fault.error_before(asks))
        report = compact(client, FLAT, "r1", "--analyze-stats")
        assert len(warned(report, "STATISTICS_NOT_COMPUTED")) == 1
        assert as_before(described)

    def test_a_rollback_leaves_the_statistics_of_others(self, described: SimulatedCluster) -> None:
        compact(described.client(), FLAT, "r1", "--file-stats")
        theirs = {"numFiles": "7", "totalSize": "70"}
        change_parameters(described, TableName.parse(FLAT), {(): theirs})
        report = roll_back(described)
        assert outcomes(report) == ["restored"]
        assert len(warned(report)) == 1
        assert parameters(described)[()] == {**OTHERS, **theirs}

    @pytest.mark.parametrize("what", [asks, writes])
    def test_a_rollback_tries_once(self, described: SimulatedCluster, what: Any) -> None:
        """Later, the same figures may be those of another compaction."""
        compact(described.client(), FLAT, "r1", "--file-stats")
        report = roll_back(described, FLAT, Fault.error_before(what))
        assert (outcomes(report), len(warned(report))) == (["restored"], 1)
        (found,) = runs_of(described, [FLAT])
        assert [unit.statistics for unit in found.state.units.values()] == [None]

    def test_two_runs_are_taken_back_one_after_the_other(self, described: SimulatedCluster) -> None:
        compact(described.client(), FLAT, "r1", "--file-stats")
        for _ in range(3):
            append(described)()
        assert outcomes(compact(described.client(), FLAT, "r2", "--file-stats")) == ["compacted"]
        request = {"runs": {FLAT: ["r1", "r2"]}}
        report = run(described.client(), "rollback", "--tables", FLAT, request=request)
        assert outcomes(report) == ["restored", "restored"]
        assert warned(report) == []
        assert as_before(described)

    def test_on_failure_undo_puts_back_what_an_earlier_attempt_has_set(
        self, described: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write = ModelRewriter.write

        def fails(self: ModelRewriter, request: Any) -> Any:
            if request.directory.endswith("k=b"):
                raise OSError("no")
            return write(self, request)

        monkeypatch.setattr(ModelRewriter, "write", fails)
        words = ("--file-stats", "--verify", "hash")
        first = compact(described.client(), EVENTS, "r1", *words)
        assert "failed" in outcomes(first)
        assert parameters(described, EVENTS)[(("k", "a"),)]["numFiles"] == "1"
        again = compact(described.client(), EVENTS, "r1", *words, "--on-failure", "undo")
        assert outcomes(again).count("restored") == 2
        assert as_before(described, EVENTS)


class TestKilled:
    """Between any two effects. Afterwards the figures are old ones or right ones, and the next job ends that."""

    @pytest.fixture(params=[("--file-stats",), ("--analyze-stats",), ("--file-stats", "--analyze-stats")])
    def words(self, request: pytest.FixtureRequest) -> tuple[str, ...]:
        return tuple(request.param)

    def _states(self, sim: SimulatedCluster, words: tuple[str, ...]) -> Iterator[SimulatedCluster]:
        for state in crash_states(sim, lambda client: compact(client, FLAT, "r1", *words)):
            yield state.sim

    def test_in_a_compaction_and_tried_again(self, described: SimulatedCluster) -> None:
        seen = 0
        for sim in self._states(described, ("--file-stats",)):
            assert as_before(sim) or right(sim)
            compact(sim.client(), FLAT, "r1", "--file-stats")
            assert right(sim)
            assert rows_lost(sim) == []
            seen += 1
        assert seen > 20

    def test_in_a_compaction_and_rolled_back(
        self, described: SimulatedCluster, words: tuple[str, ...]
    ) -> None:
        for sim in self._states(described, words):
            report = roll_back(sim)
            assert report["exit_code"] == 0
            assert as_before(sim)
            assert warned(report) == []

    @pytest.mark.parametrize("verb", ["rollback", "compact"])
    def test_in_a_rollback(self, described: SimulatedCluster, words: tuple[str, ...], verb: str) -> None:
        compact(described.client(), FLAT, "r1", *words)
        for state in crash_states(described, lambda client: run(client, "rollback", "--tables", FLAT)):
            report = run(state.sim.client(), verb, "--tables", FLAT)
            assert warned(report) == []
            (found, *_) = runs_of(state.sim, [FLAT])
            unit = next(iter(found.state.units.values()))
            assert (unit.kind == "ROLLED_BACK") is as_before(state.sim)
            assert rows_lost(state.sim) == []
