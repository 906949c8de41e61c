"""A compaction of what an analysis has flagged."""

from __future__ import annotations

import pytest

from lakekeeper_provider.compat import AirflowFailException, AirflowSkipException
from lakekeeper_provider.operators.compact import CompactOperator
from tests.airflow.support import after, context
from tests.airflow.tasks import analyze, compact


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
