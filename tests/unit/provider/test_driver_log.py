"""The log of a task: one date, one level, nothing twice."""

from __future__ import annotations

import logging

import pytest

from lakekeeper_provider.submission.driver_log import DriverLog


@pytest.fixture
def shown(caplog):
    caplog.set_level(logging.DEBUG)
    log = DriverLog(logging.getLogger("task"))

    def show(*lines: str) -> tuple[list[tuple[str, str]], list[str]]:
        left = [line for line in lines if not log.log_line(line)]
        return [(record.levelname, record.getMessage()) for record in caplog.records], left

    show.log = log
    return show


def test_lines_of_the_driver_have_the_level_that_it_gave_them_and_no_second_date(shown):
    logged, left = shown(
        "02:10:10 INFO compact sales.events",
        "26/11/28 03:00:01 WARN TaskSetManager: Lost task 0.0",
        "03:00:02,123 ERROR the disk is full",
        "03:00:03 WARN Executor: OOM: no memory",
        "03:00:03 INFO sales.events: DONE: all of it",
        "26/11/28 03:00:04 WARN hdfs.DFSClient: SLOW: that no report has",
        "Exception in thread main",
    )
    assert logged == [
        ("INFO", "compact sales.events"),
        ("WARNING", "TaskSetManager: Lost task 0.0"),
        ("ERROR", "the disk is full"),
        ("WARNING", "Executor: OOM: no memory"),
        ("INFO", "sales.events: DONE: all of it"),
        ("WARNING", "hdfs.DFSClient: SLOW: that no report has"),
    ]
    assert left == ["Exception in thread main"]


def test_what_spark_says_of_its_own_work_is_shown_only_without_a_report(shown):
    """But for the application on YARN, by which somebody finds it."""
    lines = (
        "26/11/28 03:00:01 INFO ServerInfo: Adding filter to /jobs",
        "26/11/28 03:00:01 WARN HiveMetaStoreClient: METASTORE_FILTER_HOOK will be ignored, since ...",
        "26/11/28 03:00:02 INFO Client: Submitted application application_1795886522137_0002",
    )
    application = ("INFO", "Client: Submitted application application_1795886522137_0002")
    assert shown(*lines) == ([application], [])
    shown.log.without_report()
    logged, _ = shown()
    assert [text for _, text in logged[1:]] == [
        "ServerInfo: Adding filter to /jobs",
        "HiveMetaStoreClient: METASTORE_FILTER_HOOK will be ignored, since ...",
    ]


def test_no_error_is_withheld_whatever_it_says(shown):
    lines = ("26/11/28 03:00:02 ERROR Client: cannot connect: HiveConf of name hive.x does not exist",)
    assert shown(*lines) == (
        [("ERROR", "Client: cannot connect: HiveConf of name hive.x does not exist")],
        [],
    )


def test_many_lines_of_spark_displace_no_warning_of_a_table(shown):
    shown("02:10:16 WARNING sales.events: CODEC_DIFFERS: two codecs")
    shown(*(f"26/11/28 03:00:01 INFO DAGScheduler: line {number}" for number in range(2000)))
    shown.log.without_report()
    logged, _ = shown()
    texts = [text for _, text in logged]
    assert "sales.events: CODEC_DIFFERS: two codecs" in texts
    assert "DAGScheduler: line 1999" in texts


def test_what_the_report_shows_at_the_end_is_not_shown_twice(shown):
    lines = ("02:10:16 INFO phases: start 1.3 s", "02:10:16 WARNING sales.events: CODEC_DIFFERS: two codecs")
    assert shown(*lines) == ([], [])
    shown.log.without_report()
    logged, _ = shown()
    assert logged == [("INFO", "phases: start 1.3 s"), ("WARNING", "sales.events: CODEC_DIFFERS: two codecs")]
