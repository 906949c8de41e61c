"""A compaction of what an analysis has flagged."""

from __future__ import annotations

import contextlib
import json

import pytest

from lakekeeper_provider.compat import AirflowFailException, AirflowSkipException
from lakekeeper_provider.operators.compact import CompactOperator
from tests.airflow.support import TaskInstance, after, context, dags_in, dags_of
from tests.airflow.tasks import analyze, compact
from tests.airflow.test_dags import only, run

#: A DAG whose analysis has pushed no XCom.
GONE = """
from datetime import datetime
from airflow.providers.common.compat.sdk import DAG
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator

with DAG("gone", schedule=None, start_date=datetime(2026, 1, 1)):
    analyze = AnalyzeOperator(task_id="analyze", table="sales.a", do_xcom_push=False)
    compact = CompactOperator(task_id="compact", analysis=analyze.output)
    RollbackOperator(task_id="rollback", compaction=compact.output, trigger_rule="all_done")
"""


class TestCompactFromAnalysis:
    def compact(self, analysis, **kwargs):
        return CompactOperator(task_id="compact", analysis=analysis, **kwargs)

    def test_works_on_exactly_what_was_flagged(self, spark):
        analysis = analyze(table=None, tables="sales.events,sales.flat").execute(context())
        analysis["tables"][1]["flagged"] = []
        self.compact(analysis).execute(context())
        call = spark.calls[-1]
        assert after(call["argv"], "--table") == "sales.events"
        assert call["request"]["units"] == {"sales.events": [{"date": "2026-02-23"}]}

    def test_takes_the_list_that_a_mapped_analysis_gives(self, spark):
        analyses = [analyze(table=name).execute(context()) for name in ("sales.b", "sales.a")]
        self.compact([*analyses, None]).execute(context())
        assert after(spark.calls[-1]["argv"], "--tables") == "sales.a,sales.b"

    def test_nothing_flagged_is_skipped_without_submitting(self, spark):
        compact().execute(context())
        analysis = analyze().execute(context())
        submitted, now = len(spark.calls), context()
        with pytest.raises(AirflowSkipException, match="flagged nothing"):
            self.compact(analysis).execute(now)
        assert len(spark.calls) == submitted
        assert now["ti"].pushed["return_value"]["tables"][0]["table"] == "sales.events"

    def test_no_analysis_at_all_is_skipped_too(self, spark):
        with pytest.raises(AirflowSkipException, match="flagged nothing"):
            self.compact([]).execute(context())

    @pytest.mark.parametrize("missing", [None, "None", "null", "", [None], [None, None]])
    def test_an_analysis_whose_xcom_is_gone_is_not_one_that_has_flagged_nothing(self, spark, missing):
        """Else the task is skipped, the DAG run is green, and what a killed try has left is not recovered."""
        operator = self.compact([])
        operator.analysis = missing  # As Airflow sets it, when it has resolved the XCom.
        now = context()
        with pytest.raises(
            AirflowFailException, match=r"analysis: the XCom of that task is not there.*clear"
        ):
            operator.execute(now)
        assert spark.calls == []
        assert now["ti"].pushed == {}

    def test_a_retry_that_finds_fewer_of_a_list_of_analyses_resumes_the_run(self, spark):
        analyses = [analyze(table=name).execute(context()) for name in ("sales.a", "sales.b")]
        for found in (analyses, [analyses[0], None], analyses[1:]):
            with contextlib.suppress(AirflowSkipException):  # The first one has left nothing to do.
                self.compact(found).execute(context())
        assert len({after(call["argv"], "--run-id") for call in spark.calls[2:]}) == 1

    def test_mapped_tasks_of_different_tables_are_different_runs(self, spark):
        analyses = [analyze(table=name).execute(context()) for name in ("sales.a", "sales.b")]
        for index, found in enumerate(analyses):
            self.compact(found).execute(context(ti=TaskInstance(map_index=index)))
        assert len({after(call["argv"], "--run-id") for call in spark.calls[2:]}) == 2

    def test_an_analysis_whose_xcom_is_gone_fails_the_dag_run(self, airflow_db, spark, tmp_path, monkeypatch):
        folder = dags_of(GONE, tmp_path / "gone", monkeypatch)
        state, states, _ = run(dags_in(folder).dags["gone"])
        assert (state, only(states, "analyze"), only(states, "compact")) == ("failed", "success", "failed")
        assert only(states, "rollback") == "failed"
        assert len(spark.calls) == 1

    @pytest.mark.parametrize("wrong", ["{'a': 1}", {"verb": "compact"}, 7, [3]])
    def test_anything_else_is_refused(self, spark, wrong):
        with pytest.raises(AirflowFailException, match="analysis: "):
            self.compact(wrong).execute(context())
        assert spark.calls == []

    def test_run_id_is_the_same_when_a_retry_finds_less_flagged(self, spark):
        analysis = analyze(table=None, tables="sales.a,sales.b").execute(context())
        self.compact(analysis).execute(context())
        analysis["tables"][1]["flagged"] = []
        with pytest.raises(AirflowSkipException):
            self.compact(analysis).execute(context())
        assert len({after(call["argv"], "--run-id") for call in spark.calls[1:]}) == 1

    def test_the_order_of_the_tables_is_that_of_their_urgency_and_the_run_id_does_not_depend_on_it(
        self, spark
    ):
        analysis = analyze(table=None, tables="sales.a,sales.b,sales.c").execute(context())
        _, second, third = analysis["tables"]
        second["score"], third["deferred_since"] = 4.5, "2026-02-22T01:00:00Z"
        self.compact(analysis).execute(context())
        third["deferred_since"] = None
        with pytest.raises(AirflowSkipException):  # they are compacted already
            self.compact(analysis).execute(context())
        urgent, later = spark.calls[-2:]
        assert after(urgent["argv"], "--tables") == "sales.c,sales.b,sales.a"
        assert list(urgent["request"]["units"]) == ["sales.c", "sales.b", "sales.a"]
        assert after(later["argv"], "--tables") == "sales.b,sales.a,sales.c"
        assert after(urgent["argv"], "--run-id") == after(later["argv"], "--run-id")


def test_compactions_of_different_units_of_a_table_are_different_runs(spark):
    """Else a rollback would undo only the last one."""
    wheres = ("date = '1'", "date = '2'", "date = '1'")
    analyses = [analyze(where=where).execute(context()) for where in wheres]
    selected = [CompactOperator(task_id="a", table="sales.events", where=where) for where in wheres]
    flagged = [CompactOperator(task_id="b", analysis=analysis) for analysis in analyses]
    for task in (*selected, *flagged):
        with contextlib.suppress(AirflowSkipException):  # The first one has left nothing to do.
            task.execute(context())
    ids = [after(call["argv"], "--run-id") for call in spark.calls[len(wheres) :]]
    for one, other, again in (ids[:3], ids[3:]):
        assert one == again != other


class TestCompactFromPlan:
    """The report of `lakekeeper plan --json` as the analysis."""

    def plan(self):
        def unit(day, outcome="flagged"):
            files = {"files": 9, "bytes": 9, "fingerprint": f"sha256:{day}"}
            return {"unit": {"date": day}, "outcome": outcome, "score": 1.0, **files}

        tables = [
            {"table": "sales.b", "outcome": "done", "units": [unit("2"), unit("1"), unit("3", "deferred")]},
            {"table": "sales.healthy", "outcome": "nothing", "units": [unit("1", "healthy")]},
            {"table": "sales.a", "outcome": "done", "units": [unit("9")]},
        ]
        return {"schema_version": 1, "verb": "plan", "outcome": "done", "tables": tables}

    @pytest.mark.parametrize("form", [dict, json.dumps])
    def test_exactly_its_flagged_units_are_compacted_in_its_order(self, spark, form):
        CompactOperator(task_id="compact", analysis=form(self.plan())).execute(context())
        [call] = spark.calls
        assert after(call["argv"], "--tables") == "sales.b,sales.a"
        assert call["request"]["units"] == {
            "sales.b": [{"date": "2"}, {"date": "1"}],
            "sales.a": [{"date": "9"}],
        }
        assert call["request"]["arguments"] == {"order": "none"}

    def test_the_job_is_told_the_files_of_the_plan_to_name_the_units_that_have_changed(self, spark):
        other = {**self.plan(), "tables": self.plan()["tables"][2:]}
        CompactOperator(task_id="compact", analysis=[self.plan(), other]).execute(context())
        [call] = spark.calls
        assert call["request"]["units"]["sales.a"] == [{"date": "9"}, {"date": "9"}]
        assert call["request"]["fingerprints"] == {
            "sales.b": ["sha256:2", "sha256:1"],
            "sales.a": ["sha256:9", "sha256:9"],
        }

    def test_an_order_that_is_given_has_priority(self, spark):
        CompactOperator(task_id="compact", analysis=self.plan(), order="bytes-asc").execute(context())
        assert spark.calls[0]["request"]["arguments"] == {"order": "bytes-asc"}

    def test_the_options_of_the_plan_go_before_those_of_the_configuration(self, spark, tmp_path):
        planned, config = self.plan(), tmp_path / "lakekeeper.yaml"
        planned["tables"][0]["options"] = {"strategy": "minor", "target_file_size": 1024}
        config.write_text("tables: {Sales.B: {strategy: full, verify: hash}, sales.a: {verify: count}}\n")
        CompactOperator(task_id="compact", analysis=planned, config_file=str(config)).execute(context())
        assert spark.calls[0]["request"]["tables"] == {
            "sales.b": {"strategy": "minor", "target_file_size": 1024, "verify": "hash"},
            "sales.a": {"verify": "count"},
        }

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("enabled", True, "sales.b: a plan cannot set 'enabled'"),
            ("trusted_owners", ["mallory"], "sales.b: a plan cannot set 'trusted_owners'"),
            ("register_backup", False, "sales.b: a plan cannot set 'register_backup'"),
            ("attributes", "warn", "sales.b: a plan cannot set 'attributes'"),
            ("lease_wait", "1s", "sales.b: a plan cannot set 'lease_wait'"),
            ("block_size_mb", 10**9, "sales.b: block_size_mb: expected a whole number from 1 to 16384"),
        ],
    )
    def test_a_plan_sets_nothing_but_what_chooses_and_sizes_work(self, spark, name, value, message):
        planned = self.plan()
        planned["tables"][0]["options"] = {"strategy": "minor", name: value}
        with pytest.raises(AirflowFailException, match=message):
            CompactOperator(task_id="compact", analysis=planned).execute(context())
        assert spark.calls == []

    def test_the_options_of_a_plan_as_the_jobs_write_them_are_taken(self, spark):
        planned = self.plan()
        planned["tables"][0]["options"] = {
            **{
                "strategy": "full",
                "target_file_size": 0,
                "compaction_ratio_threshold": 10.0,
                "min_input_files": 2,
            },
            **{"block_size_mb": 128, "sort_columns": [], "readers": "by-name"},
        }
        CompactOperator(task_id="compact", analysis=planned).execute(context())
        section = spark.calls[0]["request"]["tables"]["sales.b"]
        assert section == {k: v for k, v in planned["tables"][0]["options"].items() if k != "readers"}

    @pytest.mark.parametrize("name", ["sales.b", "Sales.B"])
    def test_a_table_that_is_in_a_plan_twice_is_refused(self, spark, name):
        planned = self.plan()
        planned["tables"].append({**planned["tables"][0], "table": name})
        with pytest.raises(AirflowFailException, match=r"has table sales\.b twice"):
            CompactOperator(task_id="compact", analysis=planned).execute(context())
        assert spark.calls == []

    def test_a_table_of_two_plans_that_were_made_by_other_options_is_refused(self, spark):
        one, other = self.plan(), self.plan()
        one["tables"][0]["options"], other["tables"][0]["options"] = (
            {"strategy": "minor"},
            {"strategy": "full"},
        )
        with pytest.raises(
            AirflowFailException, match=r"sales\.b is in two plans that were made by other options"
        ):
            CompactOperator(task_id="compact", analysis=[one, other]).execute(context())
        assert spark.calls == []

    def test_a_plan_that_has_ended_with_an_error_is_refused(self, spark):
        broken = {**self.plan(), "error": "the metastore is away"}
        with pytest.raises(AirflowFailException, match="the plan is not whole: the metastore is away"):
            CompactOperator(task_id="compact", analysis=broken).execute(context())
        assert spark.calls == []

    def test_a_plan_without_flagged_units_is_skipped(self, spark):
        with pytest.raises(AirflowSkipException, match="flagged nothing"):
            CompactOperator(task_id="compact", analysis={**self.plan(), "tables": []}).execute(context())
        assert spark.calls == []

    def test_a_report_that_is_no_plan_is_refused(self, spark):
        broken = {**self.plan(), "tables": [{"table": "sales.a", "outcome": "?"}]}
        with pytest.raises(AirflowFailException, match=r"analysis: the plan cannot be read: sales\.a"):
            CompactOperator(task_id="compact", analysis=broken).execute(context())
        assert spark.calls == []
