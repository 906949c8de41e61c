"""What the demo says when its DAG fails."""

from __future__ import annotations

import os

import pytest

from demo.dag_run import end_of_log

RUN, ANALYZE = "manual__1", {"dag_run_id": "manual__1", "task_id": "analyze"}


@pytest.fixture
def logs(tmp_path):
    """Logs as Airflow lays them out, the one of map index 2 the newest."""
    of_run = tmp_path / f"dag_id=demo/run_id={RUN}"
    for age, name in enumerate(
        ["task_id=analyze/map_index=2", "task_id=analyze/map_index=0", "task_id=record"]
    ):
        log = of_run / name / "attempt=1.log"
        log.parent.mkdir(parents=True)
        log.write_text(f"the log of {name}\n")
        os.utime(log, (1_000 - age, 1_000 - age))
    return tmp_path


def test_a_failed_table_is_shown_with_its_own_log(logs):
    assert end_of_log(logs, {**ANALYZE, "map_index": 0}).strip() == "the log of task_id=analyze/map_index=0"


def test_a_task_of_no_table_is_shown_with_its_log(logs):
    record = {"dag_run_id": RUN, "task_id": "record", "map_index": -1}
    assert end_of_log(logs, record).strip() == "the log of task_id=record"


def test_the_last_attempt_counts(logs):
    again = logs / f"dag_id=demo/run_id={RUN}/task_id=analyze/map_index=0/attempt=2.log"
    again.write_text("the second attempt\n")
    assert end_of_log(logs, {**ANALYZE, "map_index": 0}).strip() == "the second attempt"


def test_a_task_without_a_log_is_named_all_the_same(logs):
    assert end_of_log(logs, {**ANALYZE, "map_index": 1}) == "(no log)"
