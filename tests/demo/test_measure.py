"""The demo's own eyes and its judgement: what they must see, and what they must not let pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from demo import report
from demo.measure import Measurement, QueryResults, list_files
from demo.tables import TABLES, ddl
from demo.workspace import Workspace

FLAT, EVENTS, EVENTS_2P = TABLES


def _before() -> dict[str, Measurement]:
    catalog = {"location": "file:/w", "properties": {"a": "b"}}
    queries = QueryResults(rows=0, checksum="c", planning=0.5, scan=2.0, catalog=catalog)
    return {t.name: Measurement(t.files, 20_000_000, replace(queries, rows=t.rows)) for t in TABLES}


def _after() -> dict[str, Measurement]:
    old = {
        name: replace(found.queries, backups=[found.queries.checksum]) for name, found in _before().items()
    }
    return {t.name: Measurement(t.files_after, 9_000_000, old[t.name]) for t in TABLES}


def test_the_tables_are_those_of_the_story():
    assert [(t.files, t.files_after, t.rows) for t in TABLES] == [
        (500, 1, 300_000),
        (600, 3, 300_000),
        (900, 9, 450_000),
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_and_files_divide_evenly_into_tasks(table):
    assert table.rows % table.files == 0
    assert table.files % (2 * len(table.units)) == 0


def test_tables_are_external_and_partitioned_by_text():
    assert ddl(FLAT, "file:/w/flat").startswith("CREATE EXTERNAL TABLE demo.lakekeeper_flat (`id` BIGINT")
    assert "PARTITIONED BY (`date` STRING, `ref` STRING)" in ddl(EVENTS_2P, "file:/w/2p")


def test_only_what_a_reader_opens_is_counted(tmp_path):
    for name in (
        "a.parquet",
        "d=1/b.parquet",
        ".a.parquet.crc",
        "_SUCCESS",
        ".lakekeeper/run/d=1/old.parquet",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1234")

    assert list_files(tmp_path) == (2, 8)


def test_a_good_run_has_no_problems():
    assert report.start_problems(_before()) == []
    assert report.problems(_before(), _after()) == []


def test_the_table_shows_before_and_after():
    line = report.render(_before(), _after()).splitlines()[2]

    assert line.split("  ")[0] == "demo.lakekeeper_flat"
    assert "500 -> 1" in line
    assert "19.1 MB -> 8.6 MB" in line
    assert line.endswith("0.50 s -> 0.50 s  2.00 s -> 2.00 s")
    assert "26 objects of the NameNode instead of 4,000" in report.objects_line(_before(), _after())


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"files": 2}, "2 files, expected 1"),
        ({"rows": 299_999}, "300000 rows before, 299999 after"),
        ({"checksum": "d"}, "the contents differ"),
        ({"backups": []}, "the backups hold nothing"),
        ({"catalog": {"location": "file:/x", "properties": {"a": "b"}}}, "location changed"),
        ({"catalog": {"location": "file:/w", "properties": {}}}, "properties changed"),
    ],
)
def test_a_broken_promise_is_named(broken, said):
    after = _after()
    files = broken.get("files", FLAT.files_after)
    queries = {key: value for key, value in broken.items() if key != "files"}
    found = after[FLAT.name]
    after[FLAT.name] = replace(found, files=files, queries=replace(found.queries, **queries))

    (problem,) = report.problems(_before(), after)

    assert said in problem
    assert problem.startswith("demo.lakekeeper_flat: ")


def test_tables_that_were_not_made_as_told_are_named():
    before = _before()
    before[EVENTS.name] = replace(before[EVENTS.name], files=599)

    assert report.start_problems(before) == ["demo.lakekeeper_events: made 599 files and 300000 rows"]


def test_only_a_folder_of_the_demo_is_wiped(tmp_path):
    (tmp_path / "precious").write_text("mine")

    with pytest.raises(RuntimeError, match="not a folder of the demo"):
        Workspace(tmp_path).clear()

    assert (tmp_path / "precious").exists()


def test_one_demo_at_a_time(tmp_path):
    workspace = Workspace(tmp_path / "demo")

    with workspace.lock(), pytest.raises(RuntimeError, match="another demo"), workspace.lock():
        pass
    with workspace.lock():
        pass


def test_its_own_folder_is_wiped_again_and_again(tmp_path):
    workspace = Workspace(tmp_path / "demo")
    workspace.clear()
    workspace.completed.touch()

    workspace.clear()

    assert not workspace.completed.exists()
