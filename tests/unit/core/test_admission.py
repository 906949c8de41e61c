"""Which units may begin: within any limits, in any order, before any deadline, and after failures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.options.limits import ORDERS
from spark_jobs.core.planning.admission import Admission
from spark_jobs.core.planning.decisions import Defer, Leave, Rewrite
from spark_jobs.core.planning.ordering import ordered
from spark_jobs.core.planning.pace import Pace, end_of_run
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.health import Health, score
from spark_jobs.core.values.amount import NONE, Amount
from spark_jobs.core.values.model import Unit

_REFUSAL = Refusal(RefusalCode.QUOTA, "too small")
_SINCE = (None, "2026-02-20T00:00:00Z", "2026-02-21T00:00:00Z")


@st.composite
def plans(draw: st.DrawFn) -> list[UnitPlan]:
    """Units with any figures: flagged, refused, healthy, to be recovered, deferred by an earlier job."""
    return [_unit(draw, number) for number in range(draw(st.integers(0, 12)))]


def _unit(draw: st.DrawFn, number: int) -> UnitPlan:
    files = draw(st.integers(2, 50))
    health = Health(files, draw(st.integers(0, 10**6)), 0, 0, 0, draw(st.integers(1, files)), True)
    unit = UnitPlan(Unit({"k": str(number)}, f"/t/k={number}"), Rewrite(), health=health)
    kind = draw(st.sampled_from(("flagged", "flagged", "flagged", "refused", "healthy", "recovered")))
    if kind == "refused":
        return unit.refused(_REFUSAL)
    if kind == "recovered":
        return unit.interrupted("run r was interrupted")
    if kind == "healthy":
        return replace(unit, decision=Leave())
    return replace(unit, deferred_since=draw(st.sampled_from(_SINCE)))


limits = st.builds(
    Options, max_bytes=st.integers(0, 10**6), max_files=st.integers(0, 100), max_units=st.integers(0, 8)
)


def _read(units: Sequence[UnitPlan]) -> Amount:
    amounts = [unit.amount for unit in units if unit.to_rewrite and unit.amount]
    return sum(amounts, Amount(0))


@given(plans(), limits)
def test_a_plan_is_within_its_limits_and_holds_no_refused_unit(
    units: list[UnitPlan], options: Options
) -> None:
    found = Admission.of(options).plan(units)
    read = _read(found)
    assert not options.max_bytes or read.bytes <= options.max_bytes
    assert not options.max_files or read.files <= options.max_files
    assert not options.max_units or read.units <= options.max_units
    assert all(unit.refusal is None for unit in found if unit.flagged)


@given(plans(), limits)
def test_only_units_that_do_not_fit_are_deferred(units: list[UnitPlan], options: Options) -> None:
    job = Admission.of(options)
    found = job.plan(units)
    left = job.spent([(UnitOutcome.COMPACTED, unit.amount) for unit in found if unit.to_rewrite])
    for before, now in zip(units, found, strict=True):
        if isinstance(now.decision, Defer):
            assert before.amount is not None
            assert left.take(before.amount)[0] is not None
            assert now.undeferred() == before
        else:
            assert now == before


@given(plans(), limits, st.sampled_from(ORDERS))
def test_a_plan_is_stable(units: list[UnitPlan], options: Options, order: str) -> None:
    """The same units give the same plan, however often it is made, and a plan of a plan is the plan."""
    once = ordered(units, order)
    assert ordered(once, order) == once == ordered(units, order)
    job = Admission.of(options)
    assert job.plan(job.plan(once)) == job.plan(once)


@given(plans(), st.sampled_from(ORDERS))
def test_units_are_in_the_order_that_is_asked_for(units: list[UnitPlan], order: str) -> None:
    found = ordered(units, order)
    assert sorted(map(id, found)) == sorted(map(id, units))
    due = [unit for unit in found if unit.to_rewrite]
    assert found[: len(found) - sum(not unit.flagged for unit in found)] == [u for u in found if u.flagged]
    since = [unit.deferred_since or "~" for unit in due]
    assert since == sorted(since)
    for one, other in itertools.pairwise(due):
        if one.deferred_since == other.deferred_since:
            assert _in_order(order, one, other)


def _in_order(order: str, one: UnitPlan, other: UnitPlan) -> bool:
    first, second = one.health, other.health
    assert first is not None
    assert second is not None
    key, _, direction = order.partition("-")
    if key == "none":
        return int(one.unit.spec["k"] or 0) < int(other.unit.spec["k"] or 0)
    if key == "score":
        return score(first) >= score(second)
    sizes = getattr(first, key), getattr(second, key)
    return sizes[0] <= sizes[1] if direction == "asc" else sizes[0] >= sizes[1]


@given(plans(), st.integers(0, 200), st.integers(1, 20), st.integers(1, 10**6), st.floats(0.1, 1000))
def test_what_is_begun_can_be_finished_at_the_known_pace(
    units: list[UnitPlan], left: int, done: int, size: int, seconds: float
) -> None:
    pace = Pace(done, 2 * done, size, seconds)
    chosen = pace.fitting(units, timedelta(seconds=left), 4)
    read = sum((unit.amount or Amount() for unit in chosen), NONE)
    assert pace.seconds_for(read) + _end(len(chosen)) <= left
    for unit in units:
        if unit not in chosen and unit.amount:
            more = read + unit.amount
            assert pace.seconds_for(more) * 2 + _end(more.units) > left


def _flagged(files: int, size: int) -> UnitPlan:
    health = Health(files, size, 0, 0, 0, 1, True)
    return UnitPlan(Unit({"k": str(size)}, f"/t/k={size}"), Rewrite(), health=health)


def test_one_very_long_unit_does_not_keep_small_ones_from_being_begun() -> None:
    pace = Pace(1, 10, 100 * 1024**3, 4 * 3600.0)
    small = [_flagged(9, 9 * 1024**2 + n) for n in range(4)]
    assert len(pace.fitting(small, timedelta(hours=3), 4)) == 4
    assert pace.fitting([_flagged(10, 100 * 1024**3)], timedelta(hours=3), 4) == []


def _end(units: int) -> float:
    """What so many units add to the end of a run."""
    return (end_of_run(units) - end_of_run(0)).total_seconds()


def test_without_experience_as_many_are_begun_as_run_at_the_same_time() -> None:
    units = [UnitPlan(Unit({"k": str(n)}, f"/t/k={n}"), Rewrite()) for n in range(9)]
    assert len(Pace().fitting(units, timedelta(seconds=1), 4)) == 4
    assert Pace().fitting(units, timedelta(seconds=0), 4) == []


NOW = datetime(2026, 2, 23, 3, tzinfo=timezone.utc)


def test_canaries_that_were_refused_do_not_count() -> None:
    job = Admission.of(Options(canary=2))
    job = job.spent([(UnitOutcome.SKIPPED, Amount()), (UnitOutcome.COMPACTED, Amount())])
    assert job.canaries == 1
    assert job.ended([UnitOutcome.CHANGED]).stopped is None
    assert job.ended([UnitOutcome.FAILED]).stopped is not None


def test_canaries_begin_alone_and_then_the_others() -> None:
    units = [_flagged(2, size) for size in (1, 2, 3)]
    job = Admission.of(Options(canary=1))
    first = job.round(units, NOW)
    assert (list(first.chosen), list(first.waiting)) == (units[:1], units[1:])
    job = job.spent([(UnitOutcome.COMPACTED, units[0].amount)])
    assert list(job.round(first.waiting, NOW).chosen) == units[1:]


def test_after_too_many_failures_none_begins_and_each_says_why() -> None:
    units = [_flagged(2, size) for size in (1, 2, 3)]
    job = Admission.of(Options(max_failures=1, max_files=1)).ended([UnitOutcome.FAILED])
    next_ = job.round(units, NOW)
    assert next_.chosen == []
    assert {unit.decision for unit in next_.waiting} == {Defer("max_failures: 1 units have failed")}
    assert job.wave(units, NOW, 4) == ()
    assert {unit.outcome for unit in job.not_begun(units)} == {UnitOutcome.DEFERRED}


def test_a_unit_to_recover_is_one_again_in_the_next_round() -> None:
    recovered = _flagged(2, 1).interrupted("run r was interrupted")
    job = Admission.of(Options(canary=1)).of_table(0, 0, deadline=NOW)
    (late,) = job.round([recovered], NOW).waiting
    assert (late.outcome, late.undeferred()) == (UnitOutcome.DEFERRED, recovered)


def test_nothing_begins_at_the_deadline() -> None:
    job = Admission.of(Options()).of_table(0, 0, deadline=NOW)
    assert job.on_time(NOW - timedelta(seconds=1)) is None
    deferral = job.on_time(NOW)
    assert deferral is not None
    assert deferral.reason == f"the deadline {NOW.isoformat()} has passed"
    assert job.wave([_flagged(2, 1)], NOW, 1) == []


def test_what_grew_is_counted_in_what_the_round_has_left() -> None:
    job = Admission.of(Options(max_files=10))
    job = job.begun([Amount(1, 4, 0), Amount(1, 4, 0)])
    deferral, job = job.growth(Amount(1, 4, 0), Amount(1, 6, 0))
    assert deferral is None
    deferral, _ = job.growth(Amount(1, 4, 0), Amount(1, 5, 0))
    assert deferral is not None
    assert deferral.reason.startswith("files were added since it was planned: max_files")
