"""What a task shows of its job besides the XCom: links, warnings, and the units in its log."""

from __future__ import annotations

import logging

import pytest

from lakekeeper_provider.submission import links
from lakekeeper_provider.submission.links import ReportLink, YarnApplicationLink
from tests.airflow.conftest import connection
from tests.airflow.support import context
from tests.airflow.tasks import analyze, compact

TRACKING = "\t tracking URL: http://rm.example.com:8088/proxy/application_1700000000000_0042/"
SUBMITTED = "INFO YarnClientImpl: Submitted application application_1700000000000_0042"
LOST = "ATTRIBUTE_NOT_KEPT: the owner of hdfs://nn/t is not kept: you are not a superuser"


def pushed(task, key: str):
    found = context()
    task.execute(found)
    return found["ti"].pushed.get(key)


class TestTheApplicationOnYarn:
    def test_its_address_is_stored_while_the_job_runs(self, spark, monkeypatch):
        """Before the report: the link is there when the job is killed, too."""
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn"))
        spark.plan(compact={"lines": [SUBMITTED, TRACKING, TRACKING], "report": "none"})
        found = context()
        with pytest.raises(Exception, match="ended without a report"):
            compact().execute(found)
        assert found["ti"].pushed[YarnApplicationLink.key()] == (
            "http://rm.example.com:8088/proxy/application_1700000000000_0042/"
        )

    def test_the_address_in_the_connection_comes_first(self):
        lines = ["starting", SUBMITTED, TRACKING]
        seen: list[str] = []
        resource_manager = links.resource_manager_of({"yarn_resourcemanager_webapp_address": "rm:8088/"})
        assert list(links.watch_application(lines, resource_manager, seen.append)) == lines
        assert seen == ["http://rm:8088/cluster/app/application_1700000000000_0042"]

    def test_a_job_that_is_not_on_yarn_has_none(self, spark):
        """Its driver prints no address: a line with one, and nothing else in it, is the text of a table."""
        spark.plan(analyze={"lines": ["\t tracking URL: http://evil.example/"]})
        assert pushed(analyze(), YarnApplicationLink.key()) is None

    def test_a_link_that_cannot_be_stored_does_not_fail_the_task(self, spark, monkeypatch, caplog):
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn"))
        spark.plan(analyze={"lines": [TRACKING]})
        found = context()

        def failing(key, value):
            raise ConnectionError("503")

        monkeypatch.setattr(found["ti"], "xcom_push", failing)
        assert analyze().execute(found)["outcome"] == "done"
        assert "could not be stored: 503" in caplog.text


class TestTheReport:
    @pytest.mark.parametrize(
        ("report", "address"),
        [
            ("webhdfs://nn:9870/lk/r.json", "http://nn:9870/webhdfs/v1/lk/r.json?op=OPEN"),
            ("webhdfs://my_conn@nn:9870/lk/r.json", "http://nn:9870/webhdfs/v1/lk/r.json?op=OPEN"),
            ("swebhdfs://nn:9871/lk/r.json", "https://nn:9871/webhdfs/v1/lk/r.json?op=OPEN"),
            ("https://store/r.json", "https://store/r.json"),
            ("file:///shared/r.json", None),
            ("hdfs://nn/r.json", None),
            (None, None),
        ],
    )
    def test_it_is_linked_where_a_browser_can_open_it(self, report, address):
        assert links.browser_address(report) == address

    def test_a_report_on_a_disk_has_no_link(self, spark, tmp_path):
        assert pushed(analyze(report_dir=f"file://{tmp_path}"), ReportLink.key()) is None


@pytest.mark.parametrize("link", [YarnApplicationLink, ReportLink])
def test_airflow_reads_the_key_under_which_a_link_is_stored(link):
    """Airflow 3 has a key of its own for each link; Airflow 2 asks the link."""
    assert getattr(link(), "xcom_key", link.key()) == link.key()
    assert link.name in {each.name for each in analyze().operator_extra_links}


@pytest.fixture
def logged(capsys, caplog):
    """Return what was logged since: Airflow 3 prints it, Airflow 2 uses the module `logging`."""
    caplog.set_level(logging.INFO)
    return lambda: capsys.readouterr().out + caplog.text


def test_a_warning_of_the_job_is_one_of_the_task(spark, logged):
    spark.plan(compact={"table": {"warnings": [LOST]}})
    found = compact().execute(context())
    assert found["tables"][0]["warnings"] == [LOST]
    line = next(line for line in logged().splitlines() if f"sales.events: {LOST}" in line)
    assert "warning" in line.lower().partition("sales.events")[0]


def test_the_log_of_an_analysis_names_flagged_and_skipped_units(spark, logged):
    sizes = {"avg_file_size": 1024, "median_file_size": 2048, "threshold": 13421772, "target_files": 1}
    flagged = {"unit": {"date": "a"}, "outcome": "flagged", "files": 200, "bytes": 204800, **sizes}
    skipped = {
        "unit": {"date": "b"},
        "outcome": "skipped",
        "code": "ACTIVE_WRITER",
        "reason": "a file is open",
    }
    spark.plan(analyze={"table": {"units": [flagged, skipped]}})
    analyze().execute(context())
    text = logged()
    assert "  date=a     200    200.0 KB  1.0 KB   2.0 KB  12.8 MB    1" in text
    assert "  date=b: skipped ACTIVE_WRITER: a file is open" in text
