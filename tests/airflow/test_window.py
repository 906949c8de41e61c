"""Maintenance windows on operators and sensors: nothing is submitted while one is closed."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from lakekeeper_provider import compat
from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    TriggerEvent,
)
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators import base
from lakekeeper_provider.operators import compact as compaction
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.options.window import MaintenanceWindow
from lakekeeper_provider.sensors import maintenance_window
from lakekeeper_provider.sensors.maintenance_window import MaintenanceWindowSensor
from lakekeeper_provider.sensors.small_files import SmallFilesSensor
from lakekeeper_provider.triggers import maintenance_window as trigger_module
from lakekeeper_provider.triggers.maintenance_window import MaintenanceWindowTrigger
from tests.airflow.support import TaskInstance, after, context

NIGHT = MaintenanceWindow("22:00", "05:00")


@pytest.fixture
def clock(monkeypatch):
    """Set what the operators take for now."""

    def set_to(text: str) -> None:
        now = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
        for module in (compat, base, compaction, maintenance_window, trigger_module):
            monkeypatch.setattr(module, "utcnow", lambda: now)

    return set_to


def compact(**kwargs):
    return CompactOperator(task_id="compact", table="sales.events", **{"window": NIGHT, **kwargs})


def deferred(call):
    """The deferral that ends the call; it is no Exception in one of the two Airflows."""
    with pytest.raises(BaseException) as stop:  # noqa: PT011
        call()
    assert type(stop.value).__name__ == "TaskDeferred"
    return stop.value


def test_an_open_window_becomes_the_deadline(spark, clock):
    clock("2026-02-23T23:30")
    compact().execute(context())
    assert after(spark.calls[0]["argv"], "--deadline") == "2026-02-24T05:00:00Z"


def test_only_a_compaction_has_a_deadline(spark, clock):
    clock("2026-02-23T23:30")
    AnalyzeOperator(task_id="analyze", table="a.b", window=NIGHT).execute(context())
    assert "--deadline" not in spark.calls[0]["argv"]


@pytest.mark.parametrize(
    ("action", "error"), [("skip", AirflowSkipException), ("fail", AirflowFailException)]
)
def test_a_closed_window_skips_or_fails_without_submitting(spark, clock, action, error):
    clock("2026-02-23T12:00")
    with pytest.raises(error, match="closed until 2026-02-23T22:00"):
        compact(on_closed=action).execute(context())
    assert spark.calls == []


def test_a_closed_window_is_waited_for_without_a_worker(spark, clock):
    clock("2026-02-23T12:00")
    deferral = deferred(lambda: compact().execute(context()))
    assert deferral.trigger.window == NIGHT.as_dict()
    assert spark.calls == []
    clock("2026-02-23T22:00")
    operator = compact()
    value = getattr(operator, deferral.method_name)(context(), event={"opened": "now"})
    assert value["outcome"] == "done"


def test_a_window_that_closed_again_meanwhile_is_waited_for_again(spark, clock):
    clock("2026-02-24T05:00")
    deferred(lambda: compact().execute_complete(context(), event={"opened": "now"}))
    assert spark.calls == []


@pytest.mark.parametrize(
    ("action", "ends"),
    [("wait", "TaskDeferred"), ("skip", "AirflowSkipException"), ("fail", "AirflowFailException")],
)
@pytest.mark.parametrize("plan", [{}, {"compact": {"exit": 137, "report": "none"}}])
def test_a_retry_ends_what_a_killed_try_has_begun_before_it_waits(spark, clock, action, ends, plan):
    """A partition that a try left missing as the window closed must not be missing until the next night."""
    spark.plan(compact={"exit": 137, "report": "none"})
    clock("2026-02-24T04:59")
    with pytest.raises(AirflowException):
        compact().execute(context())
    spark.plan(**plan)
    clock("2026-02-24T05:04")
    operator = compact(on_closed=action)
    with pytest.raises(BaseException) as stop:  # noqa: PT011
        operator.execute(context(ti=TaskInstance(try_number=2)))
    assert type(stop.value).__name__ == ends
    killed, retry = (call["argv"] for call in spark.calls)
    assert after(retry, "--deadline") == "2026-02-24T05:04:00Z"  # it begins nothing
    assert after(retry, "--run-id") == after(killed, "--run-id")


def test_a_retry_that_is_killed_does_not_wait(spark, clock):
    spark.plan(compact={"exit": 143, "report": "none"})
    clock("2026-02-24T05:04")
    operator = compact()
    operator.on_kill()
    with pytest.raises(AirflowException) as stop:
        operator.execute(context(ti=TaskInstance(try_number=2)))
    assert type(stop.value).__name__ != "TaskDeferred"


def test_a_rollback_changes_nothing_while_the_window_is_closed(spark, clock):
    clock("2026-02-24T05:04")
    rollback = RollbackOperator(task_id="rollback", table="a.b", run_id="r", window=NIGHT)
    deferred(lambda: rollback.execute(context(ti=TaskInstance(try_number=2))))
    assert spark.calls == []


def test_a_window_may_be_a_mapping_or_a_name_in_the_file(spark, clock, tmp_path):
    clock("2026-02-23T23:00")
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("windows: {nightly: {start: '22:00', end: '23:30'}}")
    compact(window="nightly", config_file=str(config)).execute(context())
    assert after(spark.calls[0]["argv"], "--deadline") == "2026-02-23T23:30:00Z"
    with pytest.raises(AirflowFailException, match="window: end is missing"):
        compact(window={"start": "22:00"}).execute(context())


class TestTrigger:
    def test_is_built_again_from_what_it_serializes(self):
        path, kwargs = MaintenanceWindowTrigger(NIGHT.as_dict()).serialize()
        assert path == "lakekeeper_provider.triggers.maintenance_window.MaintenanceWindowTrigger"
        assert MaintenanceWindowTrigger(**kwargs).window == NIGHT.as_dict()

    def test_fires_once_the_window_is_open_and_not_before(self, monkeypatch):
        now = datetime(2026, 2, 23, 21, 57, tzinfo=timezone.utc)
        naps = []

        async def sleep(seconds):
            nonlocal now
            naps.append(seconds)
            now += timedelta(seconds=seconds)

        async def first_event():
            return await anext(MaintenanceWindowTrigger(NIGHT.as_dict()).run())

        monkeypatch.setattr(trigger_module, "utcnow", lambda: now)
        monkeypatch.setattr(trigger_module.asyncio, "sleep", sleep)
        event = asyncio.run(first_event())
        assert event == TriggerEvent({"opened": "2026-02-23T22:00:00+00:00"})
        assert naps == [60, 60, 60]


class TestMaintenanceWindowSensor:
    def sensor(self, **kwargs):
        return MaintenanceWindowSensor(task_id="window", **{"window": NIGHT, **kwargs})

    def test_succeeds_at_once_in_the_window(self, clock):
        clock("2026-02-23T23:00")
        assert self.sensor().execute(context()) is None
        assert self.sensor(deferrable=False).poke(context()) is True

    def test_defers_until_it_opens(self, clock):
        clock("2026-02-23T12:00")
        deferral = deferred(lambda: self.sensor().execute(context()))
        clock("2026-02-23T22:00")
        assert getattr(self.sensor(), deferral.method_name)(context(), event={}) is None

    def test_classic_sensor_pokes(self, clock):
        clock("2026-02-23T12:00")
        assert self.sensor(deferrable=False).poke(context()) is False

    def test_a_wrong_window_fails_without_retries(self, clock):
        clock("2026-02-23T12:00")
        with pytest.raises(AirflowFailException, match="unknown time zone"):
            self.sensor(window={"start": "22:00", "end": "05:00", "timezone": "Mars"}).execute(context())

    @pytest.mark.parametrize("kind", ["scheduled", "manual"])
    @pytest.mark.parametrize("field", ["run_after", "data_interval_end"], ids=["Airflow 3", "Airflow 2"])
    def test_a_scheduled_run_that_was_missed_is_skipped(self, clock, kind, field):
        """Airflow makes the last one when the DAG is unpaused: by day it would wait for the window of another night."""
        clock("2026-02-24T14:00")
        due = datetime(2026, 2, 23, 21, tzinfo=timezone.utc)
        run = SimpleNamespace(run_type=kind, **{field: due})
        sensor = self.sensor(skip_after=timedelta(hours=12))
        if kind == "scheduled":
            with pytest.raises(AirflowSkipException, match="was due at 2026-02-23 21:00 UTC"):
                sensor.execute(context(dag_run=run))
        else:
            deferred(lambda: sensor.execute(context(dag_run=run)))
        clock("2026-02-23T21:05")
        deferred(lambda: sensor.execute(context(dag_run=run)))

    def test_a_run_that_has_begun_in_time_is_not_skipped_by_a_later_poke(self, clock):
        clock("2026-02-24T14:00")
        due = datetime(2026, 2, 23, 21, tzinfo=timezone.utc)
        run = SimpleNamespace(run_type="scheduled", run_after=due, start_date=due + timedelta(minutes=1))
        sensor = self.sensor(skip_after=timedelta(hours=8))
        deferred(lambda: sensor.execute(context(dag_run=run)))

    @pytest.mark.parametrize("wrong", [timedelta(0), timedelta(hours=-1), 8])
    def test_a_wrong_time_to_skip_is_an_error_when_the_dag_is_read(self, wrong):
        with pytest.raises(UsageError, match="skip_after is"):
            self.sensor(skip_after=wrong)


class TestSmallFilesSensor:
    def sensor(self, **kwargs):
        return SmallFilesSensor(task_id="sensor", table="sales.events", mode="poke", **kwargs)

    def test_is_done_when_something_is_flagged_and_returns_the_analysis(self, spark):
        analysis = self.sensor().execute(context())
        assert analysis["verb"] == "analyze"
        CompactOperator(task_id="compact", analysis=analysis).execute(context())
        assert spark.calls[-1]["request"]["units"] == {"sales.events": [{"date": "2026-02-23"}]}

    def test_is_not_done_while_nothing_is_flagged(self, spark):
        CompactOperator(task_id="compact", table="sales.events").execute(context())
        assert not self.sensor().poke(context())

    def test_a_closed_window_submits_nothing(self, spark, clock):
        clock("2026-02-23T12:00")
        assert not self.sensor(window=NIGHT).poke(context())
        assert spark.calls == []

    def test_a_closed_window_may_skip_it(self, spark, clock):
        clock("2026-02-23T12:00")
        with pytest.raises(AirflowSkipException):
            self.sensor(window=NIGHT, on_closed="skip").execute(context())

    def test_every_poke_submits_what_the_user_gave_and_no_more(self, spark):
        sensor = self.sensor(py_files="own.zip", conf={"spark.x": "1"})
        sensor.poke(context())
        sensor.poke(context())
        first, second = (call["argv"] for call in spark.calls)
        assert after(second, "--py-files").count("own.zip") == 1
        assert after(second, "--py-files").count("lakekeeper-jobs") == 1
        assert len(first) == len(second)

    def test_a_failed_analysis_fails_it(self, spark):
        spark.plan(analyze={"report": "none", "exit": 1})
        with pytest.raises(AirflowException, match="Error code is: 1"):
            self.sensor().execute(context())

    def test_frees_its_worker_between_pokes_by_default(self):
        sensor = SmallFilesSensor(task_id="sensor", table="a.b")
        assert sensor.mode == "reschedule"
        assert sensor.poke_interval == 3600
