"""Texts of tables in a DAG run: no text of a report is rendered as a template, wherever XComs carry it."""

from __future__ import annotations

import pytest

from tests.airflow.support import after, dags_in, dags_of, logged
from tests.airflow.test_dags import run
from tests.hostile.corpus import ODD, VALUES

#: XComs as an argument, in a list, mapped, through tasks of a person's own, as text, and as a list of partitions.
DAGS = """
from datetime import datetime
from airflow.providers.common.compat.sdk import DAG, task
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator

with DAG("hostile", schedule=None, start_date=datetime(2026, 1, 1), render_template_as_native_obj=NATIVE):
    analyze = AnalyzeOperator(task_id="analyze", database="sales", include="a")

    @task
    def parts(analysis, ti=None):
        from lakekeeper_provider.operators.chunks import by_table
        return by_table(analysis, ti=ti)

    @task
    def arguments(analysis):
        return [{"analysis": analysis}]

    @task
    def partitions(analysis):
        return analysis["tables"][0]["flagged"]

    whole = CompactOperator(task_id="whole", analysis=analyze.output)
    CompactOperator(task_id="listed", analysis=[analyze.output])
    CompactOperator.partial(
        task_id="mapped", map_index_template="{{ task.analysis['tables'][0]['table'] }}"
    ).expand(analysis=parts(analyze.output))
    CompactOperator.partial(task_id="by_arguments").expand_kwargs(arguments(analyze.output))
    analyze >> CompactOperator(task_id="pulled", analysis="{{ ti.xcom_pull(task_ids='analyze') | tojson }}")
    CompactOperator(task_id="chosen", table="sales.a", partitions=partitions(analyze.output))
    record = RecordCompactionOperator(task_id="record", compaction=whole.output, by_table=True)
    RollbackOperator.partial(task_id="rollback").expand(compaction=record.output)

    @task
    def compactions(compaction):
        return [{"compaction": compaction}]

    RecordCompactionOperator.partial(task_id="record_of_arguments").expand_kwargs(compactions(whole.output))
"""
TABLE = "sales.{{ 7 * 7 }}{% raw %}${env:HOME}"
HOSTILE = [*VALUES, *ODD]
UNITS = [{"d": text} for text in HOSTILE]


@pytest.mark.one_version
@pytest.mark.parametrize("native", [False, True])
def test_no_text_of_a_report_is_rendered(airflow_db, spark, tmp_path, monkeypatch, capfd, caplog, native):
    monkeypatch.setenv("AIRFLOW_VAR_CANARY", "canary")
    flagged = [
        {"unit": unit, "outcome": "flagged", "reason": text}
        for unit, text in zip(UNITS, HOSTILE, strict=True)
    ]
    flagged.append({"unit": {"d": "{{ var.value.canary }}"}, "outcome": "flagged"})
    # What no XCom can hold is replaced.
    stored = str.maketrans(dict.fromkeys("\x00\udc80", "\ufffd"))
    units = [{"d": unit["unit"]["d"].translate(stored)} for unit in flagged]
    hostile = {"table": TABLE, "units": flagged, "reason": "{{ var.value.canary }}", "warnings": HOSTILE}
    spark.plan(analyze={"tables": {"sales.a": hostile, "sales.b": {"outcome": "nothing", "units": []}}})
    folder = dags_of(DAGS.replace("NATIVE", str(native)), tmp_path / "hostile", monkeypatch)

    state, states, _ = run(dags_in(folder).dags["hostile"])

    assert (state, states["rollback"]) == ("success", {"success": 1})
    calls = {after(call["argv"], "--name"): call for call in spark.calls}
    assert set(calls) == {"lakekeeper-analyze", "lakekeeper-compact", "lakekeeper-rollback"}
    compactions = [call for call in spark.calls if after(call["argv"], "--name") == "lakekeeper-compact"]
    chosen = [call for call in compactions if "units" not in call["request"]]
    assert [call["request"]["units"] for call in compactions if call not in chosen] == [{TABLE: units}] * 5
    assert [call["request"]["arguments"]["partitions"] for call in chosen] == [units]
    [undone] = calls["lakekeeper-rollback"]["request"]["runs"]
    assert undone == TABLE
    shown = logged(capfd, caplog)
    assert "canary'" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("LAKEKEEPER_REPORT")]
    assert "\x1b[2J" not in shown
