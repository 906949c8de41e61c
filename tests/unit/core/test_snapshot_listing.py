"""The snapshots of a commit log as rows: schema, rows of the table, manifests of base and delta, merges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.records import merge as log_merge
from spark_jobs.core.records.change import Change, change_of
from spark_jobs.core.records.journal import RunState
from spark_jobs.core.records.snapshot_listing import render, rows
from spark_jobs.core.records.snapshots import CLEANUP, COMPACT, ROLLBACK, ManifestList, Snapshot
from tests.unit.core.faulty_memory_fs import MemoryFs, files, run_state, swap
from tests.unit.core.memory_log import log


def state(unit: str, before: tuple[str, ...], after: str, count: int, then: str | None = None) -> RunState:
    written = replace(swap(unit, files(*before), files(after)), rows=count)
    return run_state(written, then=then) if then else run_state(written)


def change(run_id: str, of: RunState, kind: str = COMPACT) -> Change:
    return replace(change_of(run_id, of, kind), schema_hash="sha256:0123456789abcdef")


@pytest.fixture
def fs() -> MemoryFs:
    """Two partitions are compacted, one of them again, which is rolled back; then the first run is cleaned up."""
    fs = MemoryFs()
    again = ("1", ("m1", "late"), "m3", 7)
    for each in (
        change("r1", state("1", ("a", "b"), "m1", 5)),
        change("r2", state("2", ("c", "d"), "m2", 100)),
        change("r3", state(*again)),
        change("r3", state(*again, journal.ROLLED_BACK), ROLLBACK),
        change("r1", state("1", ("a", "b"), "m1", 5, journal.CLEANED), CLEANUP),
    ):
        log(fs).publish(each)
    return fs


def listed(fs: MemoryFs) -> list[dict[str, object]]:
    return rows(log(fs).snapshots(), log(fs).lists)


def test_a_snapshot_has_the_rows_of_all_partitions_that_the_log_has_seen(fs: MemoryFs) -> None:
    found = [(row["id"], row["kind"], row["total_rows"], row["total_row_units"]) for row in listed(fs)]
    assert found == [
        (5, "cleanup", 107, 2),
        (4, "rollback", 107, 2),
        (3, "compact", 107, 2),
        (2, "compact", 105, 2),
        (1, "compact", 5, 1),
    ]


def test_base_and_delta_have_their_manifests_files_and_rows(fs: MemoryFs) -> None:
    third = listed(fs)[2]
    assert third["base"] == {"manifests": 2, "files_added": 2, "files_deleted": 4, "rows": 105}
    assert third["delta"] == {"manifests": 1, "files_added": 1, "files_deleted": 2, "rows": 7}
    assert (third["run_id"], third["schema"]) == ("r3", "sha256:0123456789abcdef")
    assert {row["merged"] for row in listed(fs)} == {False}


def test_a_merge_of_manifests_is_told(fs: MemoryFs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_merge, "MIN_COUNT", 2)
    log(fs).publish(change("r4", state("3", ("e",), "m4", 1)))
    newest, *others = listed(fs)
    assert (newest["merged"], newest["base"]["manifests"]) == (True, 1)  # type: ignore[index]
    assert {row["merged"] for row in others} == {False}


def test_what_is_not_kept_any_more_is_not_known(fs: MemoryFs) -> None:
    """Neither the lists of a snapshot that has expired, nor a total that could not be counted."""
    third = log(fs).snapshots()[2]
    found = rows(log(fs).snapshots(), lambda snapshot: None if snapshot.id == 3 else log(fs).lists(snapshot))
    assert [(row["id"], row["merged"]) for row in found][1:3] == [(4, None), (3, None)]
    assert found[2]["base"] is found[2]["delta"] is None
    unknown = dict.fromkeys(("total_rows", "total_row_units", "base_rows", "row_counts"))
    uncounted = Snapshot.decode(replace(third, **unknown).encode(), "3")
    (row,) = rows([uncounted], log(fs).lists)
    assert (row["total_rows"], row["base"]["rows"], row["base"]["manifests"]) == (None, None, 2)
    assert render("db.t", [row]).splitlines()[-1].split()[-8:] == ["+2", "-4", "-", "1", "+1", "-2", "7", "-"]


def test_rows_of_partitions_that_were_dropped_do_not_count(fs: MemoryFs) -> None:
    published = log(fs).publish(
        change("r4", state("3", ("e",), "m4", 11)),
        units=[swap(value, files(), files()).unit.key for value in "23"],
    )
    assert published is not None
    assert (listed(fs)[0]["total_rows"], listed(fs)[0]["total_row_units"]) == (111, 2)


@pytest.mark.parametrize("lost", [False, True])
def test_rows_are_counted_anew_where_they_cannot_be_read(fs: MemoryFs, lost: bool) -> None:
    latest = log(fs).latest()
    assert latest is not None
    (path,) = [path for path in fs.files if path.endswith(f"/{latest.row_counts}")]
    if lost:
        del fs.files[path]
    else:
        fs.files[path] = (b"torn", fs.files[path][1])
    log(fs).publish(change("r4", state("3", ("e",), "m4", 11)))
    assert (listed(fs)[0]["total_rows"], listed(fs)[0]["total_row_units"]) == (11, 1)


@pytest.mark.parametrize("limit", range(7))
def test_only_the_newest_are_shown_and_no_more_files_are_read(fs: MemoryFs, limit: int) -> None:
    read: list[int] = []

    def lists(snapshot: Snapshot) -> tuple[ManifestList, ManifestList] | None:
        read.append(snapshot.id)
        return log(fs).lists(snapshot)

    assert rows(log(fs).snapshots(), lists, limit) == listed(fs)[:limit]
    assert len(read) <= limit + 1


def test_a_person_reads_a_line_for_each_snapshot(fs: MemoryFs) -> None:
    lines = render("db.t", listed(fs)).splitlines()
    assert lines[0] == "db.t: snapshots"
    assert "schema" in lines[1]
    assert len(lines) == 3 + 5
    assert lines[5].split()[-8:] == ["(2)", "2", "+2", "-4", "105", "1", "+1", "-2", "7", "no"][-8:]
    assert "01234567" in lines[5]
    assert "0123456789" not in lines[5]
    assert render("db.t", []) == "db.t: the commit log has no snapshot"
