"""The plan of a table is a value: what it says of each unit, and when it is another one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.planning.decisions import Recover
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.survey import SurveyedUnit, Verdict
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.due import Conditions, FileFigures, Judge
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.rules.health import Thresholds, assess
from spark_jobs.core.values.file_times import future_from
from spark_jobs.core.values.model import FileEntry, FileListing, Unit
from spark_jobs.protocol.planning.due_units import candidate_of, judged

THRESHOLDS = Thresholds()
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
REFUSAL = Refusal(RefusalCode.QUOTA, "no room")


def files(count: int, length: int = 10) -> FileListing:
    return FileListing.of(FileEntry(f"part-{number}", length, 1, number) for number in range(count))


def unit(value: str = "1") -> Unit:
    return Unit((("k", value),), f"hdfs://nn/t/k={value}")


def planned(count: int = 3, value: str = "1") -> UnitPlan:
    return UnitPlan.listed(unit(value), files(count), assess(files(count), THRESHOLDS))


def table(*units: UnitPlan) -> TablePlan:
    facts = TableFacts("db.t", "EXTERNAL", Storage("hdfs://nn/t", None, None), None, {}, (), ("k",))
    return TablePlan(facts, Options(), "parquet", units)


def test_small_files_are_flagged_and_a_single_one_is_not() -> None:
    assert (planned(3).outcome, planned(1).outcome) == (UnitOutcome.FLAGGED, UnitOutcome.HEALTHY)
    assert (planned(3).inputs_to_rewrite, planned(1).inputs_to_rewrite) == (planned(3).inputs, None)


def test_the_report_says_where_more_tasks_read_than_write() -> None:
    """By the slots of Spark, which the units that are written at the same time share."""
    many = files(65_000, 48_000)
    large = UnitPlan.listed(unit("large"), many, assess(many, THRESHOLDS))
    plan = replace(table(large, planned(1)), slots=200)
    tasks, none = (found.get("read_tasks") for found in plan.report().to_json()["units"])
    assert tasks is not None
    assert tasks >= 200
    assert none is None
    assert replace(plan, slots=20).report().units[0].read_tasks is None
    assert replace(plan, file_format="avro").report().units[0].read_tasks is None
    earlier = replace(large, inputs=None)
    assert replace(plan, units=(earlier,)).report().units[0].read_tasks == tasks
    beside = replace(plan, units=tuple(replace(large, unit=unit(str(number))) for number in range(4)))
    assert beside.report().units[0].read_tasks is None


def test_a_refused_unit_is_not_due_and_says_why() -> None:
    plan = planned().refused(REFUSAL)
    report = plan.report()
    assert (plan.flagged, plan.inputs_to_rewrite) == (False, None)
    assert (report.outcome, report.code, report.reason, report.files) == ("skipped", "QUOTA", "no room", 3)


def test_a_unit_of_an_unfinished_run_is_flagged_and_has_to_be_recovered_first() -> None:
    plan = planned(1).interrupted("run r1 was interrupted")
    assert (plan.flagged, plan.inputs_to_rewrite) == (True, None)
    assert (plan.report().reason, plan.report().fingerprint) == ("run r1 was interrupted", None)


def test_a_refused_unit_of_an_unfinished_run_stays_refused() -> None:
    plan = planned().refused(REFUSAL).interrupted("run r1 was interrupted")
    assert (plan.outcome, plan.refusal) == (UnitOutcome.SKIPPED, REFUSAL)


def test_a_unit_of_an_unfinished_run_is_flagged_although_an_earlier_analysis_has_refused_it() -> None:
    """The recovery rewrites nothing, so that it does not matter why the files must not be rewritten."""
    health = assess(files(3), THRESHOLDS)
    earlier = SurveyedUnit.of(unit(), 1, 10**13, True, health, "sha256:x").judge(
        Verdict.of("basis", Refusal(RefusalCode.POSITIONAL, "by position"))
    )
    plan = UnitPlan.known(unit(), health, earlier)
    assert (plan.outcome, plan.report().code) == (UnitOutcome.SKIPPED, "POSITIONAL")
    report = plan.interrupted("run r1 was interrupted").report()
    assert (report.outcome, report.code, report.reason) == ("flagged", None, "run r1 was interrupted")


def test_a_unit_that_is_not_due_is_healthy_and_says_why() -> None:
    judge = Judge(Conditions(unit_files=4), NOW)
    report = judged(planned(3), judge).report()
    assert (report.outcome, report.reason, report.files, report.fingerprint) == (
        "healthy",
        "trigger_unit_files is 4, and it has 3 files",
        3,
        None,
    )
    assert judged(planned(4), judge) == planned(4)
    assert judged(planned(1), judge) == planned(1)


def test_a_unit_that_is_not_due_is_recovered() -> None:
    plan = judged(planned(3), Judge(Conditions(unit_files=4), NOW)).interrupted("run r1 was interrupted")
    assert (plan.decision, plan.inputs_to_rewrite) == (Recover("run r1 was interrupted"), None)


def test_a_unit_that_is_not_due_is_so_whether_its_footers_were_read_or_not() -> None:
    """What a table's conditions count must not depend on what an earlier analysis has read."""
    health = assess(files(3), THRESHOLDS)
    figures = FileFigures.of(files(3), THRESHOLDS.small_file, future_from(NOW))
    earlier = SurveyedUnit.of(unit(), 1, 10**13, True, health, "sha256:x", figures)
    refused = UnitPlan.known(unit(), health, earlier.judge(Verdict.of("basis", REFUSAL)))
    assert candidate_of(refused, NOW) == candidate_of(planned(3), NOW)
    plan = judged(refused, Judge(Conditions(unit_files=4), NOW))
    assert (plan.outcome, plan.refusal) == (UnitOutcome.HEALTHY, None)


def test_a_plan_counts_for_the_files_it_was_made_for() -> None:
    plan = planned(3)
    assert plan.confirmed(files(3), THRESHOLDS) is plan
    found = plan.confirmed(files(5), THRESHOLDS)
    assert found.health is not None
    assert (found.health.files, found.inputs, found.outcome) == (5, planned(5).inputs, plan.outcome)


@pytest.mark.parametrize("count", [2, 4])
def test_the_fingerprint_of_a_table_changes_with_files_of_flagged_units(count: int) -> None:
    plan = table(planned(3), planned(3, "2"))
    assert plan.fingerprint == table(planned(3), planned(3, "2")).fingerprint
    assert plan.fingerprint != table(planned(3), planned(count, "2")).fingerprint
    healthy = planned(1, "3")
    assert plan.fingerprint == replace(plan, units=(*plan.units, healthy)).fingerprint


def test_the_report_has_a_line_for_each_unit_and_for_those_that_are_gone() -> None:
    plan = replace(table(planned(3), planned(1, "2")), gone=({"k": "9"},))
    assert [(line.unit, line.outcome) for line in plan.report().units] == [
        ({"k": "1"}, "flagged"),
        ({"k": "2"}, "healthy"),
        ({"k": "9"}, "gone"),
    ]
