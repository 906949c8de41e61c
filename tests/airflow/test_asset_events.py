"""Asset events: recorded by Airflow, for each table that a job has worked on."""

from __future__ import annotations

import json
from collections import defaultdict
from types import SimpleNamespace

import pytest
from airflow.utils.session import create_session

from lakekeeper_provider.compat import AIRFLOW_V_3_0_PLUS, AirflowFailException
from lakekeeper_provider.events import asset_events
from tests.airflow.support import context, dags_in
from tests.airflow.tasks import compact
from tests.airflow.test_dags import EXAMPLES
from tests.unit.provider.test_report import parsed, table, unit

try:
    from airflow.models.asset import AssetEvent
except ImportError:  # Airflow 2
    from airflow.models.dataset import DatasetEvent as AssetEvent


def extra_of(verb: str, *units, **more):
    found = parsed("done", table(units=list(units), **more), verb=verb)
    [(name, extra)] = asset_events.extras(found, "webhdfs://nn/r.json")
    assert name == "sales.events"
    return extra


def test_a_compaction_tells_what_it_made_and_holds():
    done = unit("compacted", files=600, bytes=314572)
    warnings = ["LOG_NOT_UPDATED: no space", "CODEC_DIFFERS: snappy"]
    extra = extra_of("compact", done, unit("skipped"), unit("deferred"), unit("deferred"), warnings=warnings)
    assert extra == {
        "verb": "compact",
        "outcome": "done",
        "run_id": "r1",
        "files_before": 600,
        "files_after": 3,
        "bytes_before": 314572,
        "bytes_after": 290012,
        "rows": 300000,
        "partition_count": 1,
        "partitions": '[{"date": "2026-02-23"}]',
        "originals_held_files": 600,
        "originals_held_bytes": 314572,
        "partitions_deferred": 2,
        "backup_table": "sales.__bkp_20260224_010000_events",
        "warnings": 2,
        "warning_codes": "LOG_NOT_UPDATED,CODEC_DIFFERS",
        "report": "webhdfs://nn/r.json",
    }


def test_an_analysis_tells_the_small_files_of_flagged_partitions():
    flagged = unit("flagged", files=500, target_files=3, bytes=1000, score=4.5)
    extra = extra_of("analyze", flagged, unit("healthy", files=9))
    assert (extra["small_files"], extra["files_after_estimate"], extra["partition_count"]) == (500, 3, 1)
    assert extra["score"] == 4.5


@pytest.mark.parametrize(("verb", "outcome"), [("rollback", "restored"), ("cleanup", "cleaned")])
def test_a_rollback_and_a_cleanup_name_their_partitions(verb, outcome):
    extra = extra_of(verb, unit(outcome), unit("failed"), freed_bytes=7)
    assert extra["partitions"] == '[{"date": "2026-02-23"}]'
    assert extra.get("freed_bytes") == (7 if verb == "cleanup" else None)


def test_a_table_of_10000_partitions_has_their_number():
    many = [{**unit("compacted"), "unit": {"date": f"{n:010}"}} for n in range(10000)]
    extra = extra_of("compact", *many)
    assert (extra["partition_count"], extra["partitions"]) == (10000, None)
    assert len(json.dumps(extra)) < 1000


def test_the_events_of_1000_tables_of_10000_partitions_fit_into_a_message(caplog):
    many = [{**unit("compacted"), "unit": {"date": f"{n:010}"}} for n in range(10)]
    found = parsed("done", *(table(f"sales.t{n}", units=many) for n in range(1001)))
    all_extras = list(asset_events.extras(found, None))
    assert (len(all_extras), len(json.dumps(all_extras)) < 2 * 1024 * 1024) == (1000, True)
    assert "for 1000 of 1001 tables" in caplog.text


def test_a_table_without_work_has_none():
    found = parsed("nothing", table(outcome="nothing"), table("sales.b", outcome="refused", code="MANAGED"))
    assert list(asset_events.extras(found, None)) == []


@pytest.mark.parametrize("verb", ["compact", "cleanup"])
def test_a_dry_run_has_none(verb):
    found = parsed("done", table(units=[unit("flagged")]), verb=verb)
    assert list(asset_events.extras(found, None)) == []


def test_an_event_that_cannot_be_emitted_does_not_fail_the_task(spark, caplog):
    events = defaultdict(SimpleNamespace)  # they have no `add`
    assert compact().execute(context(outlet_events=events))["outcome"] == "done"
    assert ("the asset event of sales.events could not be emitted" in caplog.text) == AIRFLOW_V_3_0_PLUS


def test_a_report_that_cannot_be_read_for_events_does_not_fail_the_task(spark, monkeypatch, caplog):
    def failing(*_):
        raise KeyError("units")

    monkeypatch.setattr(asset_events, "extras", failing)
    events = defaultdict(SimpleNamespace)
    assert compact().execute(context(outlet_events=events))["outcome"] == "done"
    assert ("asset events of compact could not be emitted" in caplog.text) == AIRFLOW_V_3_0_PLUS


def test_a_wrong_server_fails_before_the_job(spark):
    with pytest.raises(AirflowFailException, match="hive_server: expected host:port of HiveServer2"):
        compact(hive_server="no:such:port").execute(context())
    assert spark.calls == []


def test_odd_names_stay_in_their_part_of_the_uri():
    """Else it would be another table's, without the verb: new rows, for those who wait for them."""
    assert asset_events.uri_of("db.a#b?c/d", "compact", "hs2:10000") == (
        "hive://hs2:10000/db/a%23b%3Fc%2Fd?lakekeeper=compact"
    )


@pytest.mark.parametrize("verb", ["check", "history"])
def test_a_verb_that_looks_only_has_none(verb):
    assert asset_events.outlets_of(verb) == []


def test_airflow_records_the_events_of_a_dag_run(airflow_db, spark):
    dag_run = dags_in(EXAMPLES).dags["lakekeeper_demo"].test()
    with create_session() as session:
        events = (
            session.query(AssetEvent).filter_by(source_run_id=dag_run.run_id, source_task_id="compact").all()
        )
        found = {event.uri: event.extra for event in events if event.uri.startswith("hive:")}
    assert str(dag_run.state) == "success"
    if not AIRFLOW_V_3_0_PLUS:
        assert found == {}
        return
    names = ("lakekeeper_flat", "lakekeeper_events", "lakekeeper_events_2p")
    assert set(found) == {f"hive://default/demo/{name}?lakekeeper=compact" for name in names}
    assert {extra["files_after"] for extra in found.values()} == {3}
