"""What an operator makes of a job's report: the XCom, a retry, a failure, or a skip."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.compat import AirflowException, AirflowFailException, AirflowSkipException
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.submission import exchange
from tests.airflow.support import after, context, logged
from tests.airflow.tasks import analyze, compact


def _failing_reads(monkeypatch, failures):
    """Let that many reads of a report fail as a gateway does; return the list of reads."""
    asked, read = [], exchange._bytes

    def flaky(fs, path):
        asked.append(path)
        if len(asked) <= failures:
            raise ConnectionError("503 Service Unavailable")
        return read(fs, path)

    monkeypatch.setattr(exchange, "_bytes", flaky)
    monkeypatch.setattr(exchange._RETRIES, "sleep", lambda _: None)
    return asked


class TestReports:
    def test_the_summary_is_the_xcom(self, spark):
        value = compact().execute(context())
        [call] = spark.calls
        run_id = after(call["argv"], "--run-id")
        assert value == {
            "schema_version": 1,
            "verb": "compact",
            "run_id": run_id,
            "outcome": "done",
            "started": "2026-02-24T01:00:00Z",
            "ended": "2026-02-24T01:03:10Z",
            "report": None,
            "database": None,
            "tables": [
                {
                    **{"table": "sales.events", "outcome": "done", "code": None, "reason": None},
                    **{"run_id": run_id, "rows": 300000, "backup_table": None},
                    **{"warnings": [], "warning_codes": {}, "skipped": {}},
                    "before": {"files": 600, "bytes": 314572},
                    "after": {"files": 3, "bytes": 290012},
                }
            ],
        }
        json.dumps(value)

    def test_the_line_of_the_driver_is_enough(self, spark):
        spark.plan(analyze={"report": "stdout"})
        assert analyze().execute(context())["tables"][0]["flagged"] == [{"date": "2026-02-23"}]

    def test_a_storage_that_does_not_answer_at_once_is_asked_again(self, spark, monkeypatch):
        asked = _failing_reads(monkeypatch, failures=2)
        assert analyze().execute(context())["outcome"] == "done"
        assert len(asked) == 3

    def test_a_report_that_cannot_be_read_is_taken_from_standard_output(self, spark, monkeypatch):
        _failing_reads(monkeypatch, failures=99)
        spark.plan(analyze={"report": "stdout"})
        assert analyze().execute(context())["outcome"] == "done"

    def test_a_report_that_can_be_read_nowhere_fails_the_task_and_is_named(self, spark, monkeypatch):
        _failing_reads(monkeypatch, failures=99)
        spark.plan(analyze={"report": "file"})
        with pytest.raises(AirflowException, match=r"report .*-report\.json cannot be read: 503") as error:
            analyze().execute(context())
        assert not isinstance(error.value, AirflowFailException)

    def test_no_report_is_a_failure_even_after_exit_0(self, spark):
        spark.plan(analyze={"report": "none"})
        with pytest.raises(AirflowException, match="ended without a report"):
            analyze().execute(context())

    def test_another_program_that_leaves_no_report_is_named(self, spark, tmp_path):
        spark.plan(analyze={"report": "none"})
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {script_path: /opt/launcher.py}")
        with pytest.raises(
            AirflowException, match=r"/opt/launcher.py ended without a report of this package's jobs"
        ):
            analyze(config_file=str(config)).execute(context())

    def test_a_broken_report_is_a_failure_even_after_exit_0(self, spark):
        spark.plan(analyze={"report": "broken"})
        with pytest.raises(AirflowException, match="not valid JSON"):
            analyze().execute(context())

    def test_without_a_report_the_message_of_spark_submit_stands(self, spark):
        spark.plan(analyze={"report": "none", "exit": 1})
        with pytest.raises(AirflowException, match=r"(?s)Error code is: 1.*working on analyze") as error:
            analyze().execute(context())
        assert not isinstance(error.value, AirflowFailException)

    @pytest.mark.parametrize("code", [1, 2, 3, 137, -9])
    @pytest.mark.parametrize("where", ["file", "stdout", "both"])
    def test_a_process_that_failed_or_died_is_no_success_whatever_its_report_says(
        self, spark, capfd, caplog, code, where
    ):
        """Out of memory, a preemption, a signal; or a file that somebody has put where the report belongs."""
        spark.plan(compact={"exit": code, "report": where})
        now = context()
        with pytest.raises(AirflowException, match=r"whatever its report says .compact: done") as error:
            compact().execute(now)
        assert not isinstance(error.value, AirflowFailException)
        # The report is read nevertheless: a rollback needs its run ids, and a person its figures.
        assert now["ti"].pushed["return_value"]["outcome"] == "done"
        assert now["ti"].pushed["return_value"]["tables"][0]["before"] == {"files": 600, "bytes": 314572}
        shown = logged(capfd, caplog)
        assert "600 -> 3" in shown
        assert "Error code is" in shown

    @pytest.mark.parametrize("code", [0, 1, 137, -9])
    @pytest.mark.parametrize("nonce", ["", "0123456789abcdef "])
    def test_a_line_that_a_text_of_a_table_brings_into_the_log_is_no_report(self, spark, code, nonce):
        forged = json.dumps({"schema_version": 1, "verb": "analyze", "outcome": "done", "tables": []})
        lines = [f"LAKEKEEPER_REPORT {nonce}{forged}"]
        spark.plan(analyze={"report": "none", "exit": code, "lines": lines})
        with pytest.raises(
            AirflowException, match="ended without a report" if code == 0 else "Error code is"
        ):
            analyze().execute(context())

    def test_a_forged_line_does_not_replace_the_report(self, spark):
        forged = json.dumps({"schema_version": 1, "verb": "analyze", "outcome": "nothing", "tables": []})
        spark.plan(analyze={"report": "stdout", "lines": [f"LAKEKEEPER_REPORT {forged}"]})
        assert analyze().execute(context())["outcome"] == "done"

    def test_each_submission_has_a_nonce_of_its_own_that_the_log_does_not_show(self, spark, capfd, caplog):
        spark.plan(analyze={"lines": ["argv of the driver"]})
        for _ in range(2):
            analyze().execute(context())
        first, second = (after(call["argv"], "--report-nonce") for call in spark.calls)
        assert first != second
        shown = logged(capfd, caplog)
        assert "--report-nonce ******" in shown
        assert first not in shown
        assert second not in shown

    def test_a_partial_run_is_retried_and_leaves_its_run_ids(self, spark):
        table = {"outcome": "partial", "reason": "one unit failed"}
        spark.plan(compact={"outcome": "partial", "exit": 1, "table": table})
        now = context()
        with pytest.raises(AirflowException, match=r"sales.events partial .one unit failed") as error:
            compact().execute(now)
        assert not isinstance(error.value, AirflowFailException)
        pushed = now["ti"].pushed["return_value"]
        assert pushed["outcome"] == "partial"
        assert pushed["tables"][0]["run_id"] == after(spark.calls[0]["argv"], "--run-id")

    def test_a_busy_table_is_retried(self, spark):
        table = {"outcome": "busy", "reason": "the lease is held"}
        spark.plan(compact={"outcome": "failed", "exit": 1, "table": table})
        with pytest.raises(AirflowException, match="the lease is held") as error:
            compact().execute(context())
        assert not isinstance(error.value, AirflowFailException)

    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            ({"outcome": "usage", "exit": 2, "error": "no such column x"}, "no such column x"),
            (
                {
                    "outcome": "unsafe",
                    "exit": 3,
                    "table": {
                        "outcome": "partial",
                        "units": [{"unit": {"d": "1"}, "outcome": "quarantined", "reason": "X L N"}],
                    },
                },
                r"a person must look.*d=1: quarantined X L N",
            ),
            (
                {
                    "outcome": "failed",
                    "exit": 1,
                    "table": {"outcome": "refused", "code": "MANAGED", "reason": "it is a managed table"},
                },
                r"compact: sales.events refused .MANAGED it is a managed table",
            ),
        ],
    )
    def test_what_a_retry_cannot_mend_fails_at_once(self, spark, plan, message):
        spark.plan(compact=plan)
        with pytest.raises(AirflowFailException, match=message):
            compact().execute(context())

    def test_a_refused_table_of_a_database_is_no_failure(self, spark):
        spark.plan(analyze={"tables": {"sales.b": {"outcome": "refused", "code": "VIEW"}}})
        value = analyze(table=None, database="sales").execute(context())
        assert [table["outcome"] for table in value["tables"]] == ["done", "refused"]

    def test_a_refused_table_of_a_list_may_be_skipped(self, spark):
        refused = {"outcome": "refused", "code": "VIEW", "reason": "it is a view"}
        spark.plan(analyze={"outcome": "partial", "exit": 1, "tables": {"sales.v": refused}})
        with pytest.raises(AirflowSkipException, match=r"sales\.v refused .VIEW it is a view"):
            analyze(table="sales.v", on_refused="skip").execute(context())
        value = analyze(table=None, tables=["sales.v", "sales.t"], on_refused="skip").execute(context())
        assert [table["outcome"] for table in value["tables"]] == ["refused", "done"]

    def test_the_log_shows_before_and_after(self, spark, capfd, caplog):
        analyze().execute(context())
        assert "600 -> 3" in logged(capfd, caplog)

    def test_an_analysis_too_large_for_xcom_points_to_its_report(self, spark, tmp_path):
        units = [{"unit": {"date": f"{n:020}"}, "outcome": "flagged"} for n in range(2000)]
        spark.plan(analyze={"table": {"units": units}})
        analysis = analyze(report_dir=str(tmp_path / "r")).execute(context())
        assert len(json.dumps(analysis)) < 48 * 1024
        assert analysis["tables"][0]["flagged"] is None
        CompactOperator(task_id="compact", analysis=analysis).execute(context())
        assert len(spark.calls[-1]["request"]["units"]["sales.events"]) == 2000

    def test_of_such_an_analysis_only_the_tables_that_it_names_are_compacted(self, spark, tmp_path):
        units = [{"unit": {"date": f"{n:020}"}, "outcome": "flagged"} for n in range(1000)]
        spark.plan(analyze={"table": {"units": units}})
        whole = AnalyzeOperator(task_id="analyze", database="sales", report_dir=str(tmp_path / "r"))
        analysis = whole.execute(context())
        assert [table["flagged"] for table in analysis["tables"]] == [None, None]
        one = {**analysis, "tables": analysis["tables"][:1]}
        CompactOperator(task_id="compact", analysis=one).execute(context())
        assert list(spark.calls[-1]["request"]["units"]) == ["sales.a"]
