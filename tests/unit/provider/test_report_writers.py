"""What the task's log says of who makes the small files."""

from __future__ import annotations

from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.units import TABLES_SHOWN
from tests.unit.provider.test_report import parsed, table, unit

ETL = {
    "owner": "etl",
    "pattern": "part-*-*-c000.snappy.parquet",
    "files": 1200,
    "bytes": 2048,
    "newest": "2026-02-23T22:10:00Z",
}
UNKNOWN = {**ETL, "owner": None, "pattern": "000000_*", "files": 3}


def text(*tables) -> list[str]:
    return report_text.render(parsed("done", *tables, verb="analyze")).splitlines()


def test_an_analysis_names_owners_and_file_names_and_the_growth():
    found = table(
        units=[unit("healthy"), unit("healthy")],
        small_file_writers=[ETL, UNKNOWN],
        files_per_day=171.9,
        listed_units=1,
    )
    assert text(found)[-4:] == [
        "sales.events: 171.9 new files per day in the last 7 days, without our own"
        " (1 of 2 partitions were listed); the newest small files:",
        "  owner  file names                    files  bytes   newest",
        "  etl    part-*-*-c000.snappy.parquet  1200   2.0 KB  2026-02-23T22:10:00Z",
        "  -      000000_*                      3      2.0 KB  2026-02-23T22:10:00Z",
    ]


def test_a_table_without_small_files_is_left_out():
    plain = text(table())
    assert text(table(small_file_writers=[], files_per_day=3.0, listed_units=1)) == plain
    assert text(table(small_file_writers=[], listed_units=0)) == plain


def test_of_many_tables_the_first_ones_are_shown():
    many = [
        table(f"sales.t{n}", small_file_writers=[ETL], files_per_day=1.0, listed_units=1) for n in range(60)
    ]
    found = text(*many)
    assert sum("the newest small files" in line for line in found) == TABLES_SHOWN
    assert found[-1] == "... the writers of 10 more tables are in the report"
