"""Properties of plans of any tables, with any limits: what is executed is what was planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_jobs.core.options.limits import ORDERS
from tests.crash import writers
from tests.crash.kept_plan import kept, units_with
from tests.crash.oracle import live_rows
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

HOW = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
#: By partition, the rows of each of its files.
Partitions = dict[str, list[int]]
partitions = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.integers(1, 6), min_size=1, max_size=7), min_size=1, max_size=4
)


@dataclass(frozen=True)
class Case:
    """Tables, and the words of a job.

    Attributes:
        before: the limit of a job that ran before, so that units are deferred; None if there was none.
        written: the partitions that get another file after the plan.
    """

    tables: list[Partitions]
    words: list[str]
    before: int | None
    written: list[tuple[int, str]]

    @property
    def limited(self) -> bool:
        return any(word.startswith("--max-") for word in self.words)

    def cluster(self) -> SimulatedCluster:
        sim = SimulatedCluster()
        for number, found in enumerate(self.tables):
            name = f"t{number}"
            writers.create_table(sim, f"sales.{name}", f"{WAREHOUSE}/{name}", keys=("k",))
            for value, files in found.items():
                location = writers.add_partition(sim, f"sales.{name}", value)
                for rows in files:
                    writers.append(sim, location, sim.ledger.fresh(rows))
        if self.before is not None:
            _job(sim, "compact", "--max-units", str(self.before))
            for number, found in enumerate(self.tables):
                for value in found:
                    writers.append(sim, f"{WAREHOUSE}/t{number}/k={value}", sim.ledger.fresh(2))
        return sim


@st.composite
def cases(draw: st.DrawFn) -> Case:
    tables = draw(st.lists(partitions, min_size=1, max_size=3))
    words = ["--order", draw(st.sampled_from(ORDERS))]
    for name, most in (("units", 8), ("files", 40), ("bytes", 2000)):
        if draw(st.booleans()):
            words += [f"--max-{name}", str(draw(st.integers(0, most)))]
    if draw(st.booleans()):
        words += ["--strategy", "minor"]
    places = [(number, value) for number, found in enumerate(tables) for value in found]
    written = draw(st.lists(st.sampled_from(places), max_size=2, unique=True))
    return Case(tables, words, draw(st.none() | st.integers(1, 3)), written)


def _job(sim: SimulatedCluster, verb: str, *words: str) -> dict[str, Any]:
    return run(sim.client(), verb, "--database", "sales", *words)


def _execute(sim: SimulatedCluster, plan: dict[str, Any]) -> dict[str, Any]:
    return run(sim.client(), "compact", "--plan", kept(sim, plan))


def _rows(sim: SimulatedCluster, tables: Sequence[Partitions]) -> list[Any]:
    return [live_rows(sim, f"sales.t{number}") for number in range(len(tables))]


def _by_name(report: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(report["tables"], key=lambda table: table["table"])


@settings(max_examples=100, **HOW)
@given(case=cases())
def test_a_plan_is_stable_and_a_dry_run_says_the_same(case: Case) -> None:
    plan = _job(case.cluster(), "plan", *case.words)
    assert _job(case.cluster(), "plan", *case.words)["tables"] == plan["tables"]
    assert _by_name(_job(case.cluster(), "compact", "--dry-run", *case.words)) == _by_name(plan)


@settings(max_examples=100, **HOW)
@given(case=cases(), by_plan=st.booleans())
def test_what_is_executed_is_what_was_planned(case: Case, by_plan: bool) -> None:
    plan, sim = _job(case.cluster(), "plan", *case.words), case.cluster()
    rows = _rows(sim, case.tables)
    done = _execute(sim, plan) if by_plan else _job(sim, "compact", *case.words)
    planned, compacted = units_with(plan, "flagged"), units_with(done, "compacted")
    if not by_plan and not case.limited:  # Then all is done, and the tables keep their own order.
        planned, compacted = sorted(planned), sorted(compacted)
    assert compacted == planned
    assert _rows(sim, case.tables) == rows


@settings(max_examples=100, **HOW)
@given(case=cases())
def test_of_a_plan_that_grew_old_nothing_else_is_executed_and_what_changed_is_named(case: Case) -> None:
    sim = case.cluster()
    plan = _job(sim, "plan", *case.words)
    planned = units_with(plan, "flagged")
    for number, value in case.written:
        writers.append(sim, f"{WAREHOUSE}/t{number}/k={value}", sim.ledger.fresh(1))
    rows = _rows(sim, case.tables)
    done = _execute(sim, plan)
    compacted = units_with(done, "compacted")
    assert [unit for unit in planned if unit in compacted] == compacted
    assert set(planned) == set(compacted) | set(units_with(done, "deferred", "healthy", "changed"))
    changed = {(f"sales.t{number}", value) for number, value in case.written} & set(planned)
    warned = {
        (table["table"], name.strip().removeprefix("k="))
        for table in done["tables"]
        for text in table["warnings"]
        if text.startswith("PLAN_CHANGED")
        for name in text.rsplit(":", 1)[1].split(",")
    }
    assert warned == changed
    assert _rows(sim, case.tables) == rows
