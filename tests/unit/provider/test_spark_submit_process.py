"""How spark-submit is started, and what of it is logged. Airflow's hook is the real one; no process is started."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.apache.spark.hooks import spark_submit

from lakekeeper_provider.compat import AirflowException
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.spark_submit import SparkSubmit
from lakekeeper_provider.submission.driver_log import DriverLog
from lakekeeper_provider.submission.spark_submit_adapter import SparkSubmitter
from lakekeeper_provider.submission.submission import Ended, Submission, SubmissionRunner

EXTRA = {"keytab": "a2V5", "principal": "etl@REALM"}


class Processes:
    """Stands for `subprocess.Popen`; the process prints a line, and a report if it has one, and ends with `code`."""

    def __init__(self) -> None:
        self.code = 0
        self.report: dict[str, Any] | None = None
        self.lines = ["d=1\x1b[2J the-word"]
        self.environments: list[Any] = []
        self.keytab_modes: list[int] = []

    def __call__(self, command: list[str], **kwargs: Any) -> Any:
        self.environments.append(kwargs.get("env"))
        keytab = Path(command[command.index("--keytab") + 1])
        self.keytab_modes.append(keytab.stat().st_mode & 0o777)
        lines = [f"{line}\n" for line in self.lines]
        if self.report is not None:
            word = command[command.index("--report-nonce") + 1]
            lines.append(f"LAKEKEEPER_REPORT {word} {json.dumps(self.report)}\n")
        return SimpleNamespace(stdout=lines, wait=lambda: self.code, returncode=self.code)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Processes:
    connection = {"conn_type": "spark", "host": "local[2]", "extra": EXTRA}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    monkeypatch.setenv("WORKERS_TOKEN", "canary")
    # The hook takes a keytab that is there already.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = Processes()
    monkeypatch.setattr(spark_submit, "subprocess", SimpleNamespace(Popen=found, PIPE=-1, STDOUT=-2))
    return found


def submitter() -> SparkSubmitter:
    operator = AnalyzeOperator(
        task_id="t", table="a.b", env_vars={"OWN": "1"}, conf={"spark.my.token": "canary"}
    )
    return SparkSubmitter(operator, {"application": "job.py"}, ReportLine("the-word").without)


def test_in_client_mode_the_process_has_the_variables_that_were_chosen_and_no_other(
    processes: Processes,
) -> None:
    found = submitter()
    found.set_environment({"PATH": os.defpath, "OWN": "1"})
    found.submit({})
    assert processes.environments == [{"PATH": os.defpath, "OWN": "1"}]


def test_the_keytab_of_a_connection_is_readable_for_this_user_alone(processes: Processes) -> None:
    before = os.umask(0o022)
    try:
        submitter().submit({})
        assert processes.keytab_modes == [0o600]
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_the_error_of_a_process_that_failed_shows_no_credentials(processes: Processes) -> None:
    processes.code = 1
    with pytest.raises(AirflowException) as error:
        submitter().submit({})
    assert "spark.my.token=******" in str(error.value)
    for secret in ("canary", "etl@REALM", "--keytab /"):
        assert secret not in str(error.value)


def test_lines_of_the_process_are_logged_without_the_word_and_without_control_characters(
    processes: Processes,
) -> None:
    processes.code = 1
    with pytest.raises(AirflowException) as error:
        submitter().submit({})
    assert r"d=1\x1b[2J ******" in str(error.value)
    assert "the-word" not in str(error.value)


QUEUE = "Client: application_1_2 submitted by user etl to unknown queue: root.x"


def test_a_line_with_a_level_is_logged_once_with_that_level_and_is_the_cause_in_the_error(
    processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    processes.code, processes.lines = 1, [f"26/11/28 01:02:04 ERROR {QUEUE}", "Exception in thread main"]
    found = submitter()
    found.set_line_log(DriverLog(logging.getLogger("task")).log_line)
    with pytest.raises(AirflowException) as error:
        found.submit({})
    assert QUEUE in str(error.value)
    logged = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [entry for entry in logged if QUEUE in entry[1]] == [("ERROR", QUEUE)]


def test_a_job_on_kubernetes_that_prints_only_lines_with_a_level_succeeds(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)
    connection = {"conn_type": "spark", "host": "k8s://https://localhost", "extra": EXTRA}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    processes.lines = ["26/11/28 01:02:04 INFO SparkContext: Running Spark version 3.5.9"]
    found = submitter()
    found.set_line_log(DriverLog(logging.getLogger("task")).log_line)
    found.submit({})
    assert found.exit_code() == 0


DONE = {"schema_version": 1, "verb": "analyze", "outcome": "done", "tables": []}


@pytest.fixture
def spark_binary(tmp_path: Path) -> str:
    """A folder with a program that is never started: the submission only looks for it."""
    program = tmp_path / "bin" / "spark-submit"
    program.parent.mkdir()
    program.touch(0o755)
    return str(program.parent)


def ended_of(spark_binary: str) -> tuple[AnalyzeOperator, Submission, Ended]:
    operator = AnalyzeOperator(task_id="t", table="a.b", env_vars={"PATH": spark_binary})
    submission = Submission(Selection.of(table="a.b"), {"schema_version": 1}, {})
    return operator, submission, SubmissionRunner(operator, "analyze", SparkSubmit()).run(submission, {})


def test_a_submission_in_client_mode_gives_the_driver_no_secret(
    processes: Processes, spark_binary: str
) -> None:
    processes.report = DONE
    ended_of(spark_binary)
    [given] = processes.environments
    assert given["PATH"] == spark_binary
    assert given["HOME"] == os.environ["HOME"]
    assert "canary" not in given.values()


def test_the_failure_of_a_process_counts_although_its_report_says_done(
    processes: Processes, spark_binary: str
) -> None:
    processes.report, processes.code = DONE, 137
    operator, submission, ended = ended_of(spark_binary)
    assert ended.report.outcome == "done"
    assert ended.failure is not None
    with pytest.raises(AirflowException, match="ended with exit code 137, whatever its report says"):
        operator.conclude(ended, submission, False, {"ti": SimpleNamespace(xcom_push=lambda **_: None)})
