"""What is kept of settled runs, which runs are settled, and what is refused as input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.records import journal
from spark_jobs.core.records.settled_runs import SettledRecord, SettledRun, is_settled
from spark_jobs.core.records.snapshots import Snapshot
from tests.unit.core.faulty_memory_fs import NOW, MemoryFs, files, run_state, swap
from tests.unit.core.memory_log import compact, log, prepared

ONE = swap("1", files("a", "b"), files("c"))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (None, False),
        (journal.CLEANUP_CLAIMED, False),
        (journal.ROLLBACK_PREPARED, False),
        (journal.ROLLED_BACK, True),
        (journal.DISCARDED, True),
        (journal.CLEANED, True),
    ],
)
def test_a_run_is_settled_once_it_holds_no_originals(kind: str | None, expected: bool) -> None:
    state = replace(run_state(ONE, then=kind), entered=False)
    assert is_settled(state) is expected


def test_a_run_that_somebody_is_at_work_in_is_not_settled() -> None:
    """It may be about to prepare the next unit."""
    assert not is_settled(replace(run_state(ONE, then=journal.CLEANED), entered=True))


def record() -> SettledRecord:
    snapshot = log(prepared()).latest()
    assert snapshot is not None
    state = run_state(ONE, then=journal.CLEANED)
    return SettledRecord().adding("hdfs:7", [SettledRun.of("r", "hdfs:9", state, {ONE.unit.key})], [snapshot])


def without_names(snapshot: Snapshot) -> Snapshot:
    """What a record keeps of a snapshot."""
    return replace(
        snapshot,
        base="",
        delta="",
        survey=None,
        schema_hash=None,
        base_rows=None,
        row_counts=None,
        logged_at=snapshot.committed_at,
    )


def test_what_is_written_is_what_is_read() -> None:
    written = record()
    read = SettledRecord.decode(written.encode(), "record")
    assert (read.home_id, read.runs) == ("hdfs:7", written.runs)
    assert read.snapshots == tuple(map(without_names, written.snapshots))
    assert list(read.runs[0].kinds) == [journal.CLEANED]
    assert list(read.runs[0].replaced) == [ONE.unit.key]


def test_what_is_added_twice_is_there_once() -> None:
    once = record()
    assert once.adding("hdfs:7", once.runs, once.snapshots) == once


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.update(schema_version="2"),
        lambda body: body.pop("runs"),
        lambda body: body["runs"][0].update(run_id="../r"),
        lambda body: body["runs"][0].update(run_id=["r"]),
        lambda body: body["runs"][0].update(started="yesterday"),
        lambda body: body["runs"][0].update(started="2026-02-24T00:00:00"),
        lambda body: body["runs"][0].update(kinds=["CLEANED"]),
        lambda body: body["runs"][0].update(directory_id=None),
        lambda body: body["snapshots"][0].update(kind="drop"),
        lambda body: body["snapshots"][0].update(units=-1),
        lambda body: body["snapshots"][0].update(total_rows=-1),
        lambda body: body["snapshots"][0].update(before={"files": "1", "bytes": 2}),
    ],
)
def test_what_it_does_not_know_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    body = json.loads(gzip.decompress(record().encode()))
    change(body)
    with pytest.raises(Unsafe, match="the record of settled runs record cannot be read"):
        SettledRecord.decode(gzip.compress(json.dumps(body).encode()), "record")


@pytest.mark.parametrize("data", [b"", b"{}", gzip.compress(b"torn")[:-3], gzip.compress(b"[]")])
def test_what_is_torn_is_refused(data: bytes) -> None:
    with pytest.raises(Unsafe):
        SettledRecord.decode(data, "record")


def expired(fs: MemoryFs) -> list[int]:
    log(fs).expire({snapshot.uuid for snapshot in log(fs).snapshots()})
    return [snapshot.id for snapshot in log(fs).snapshots()]


def test_the_latest_snapshot_stays_and_the_next_one_is_numbered_after_it() -> None:
    fs = prepared()
    log(fs).publish(compact())
    before = log(fs).latest()
    assert expired(fs) == [2]
    assert log(fs).latest() == before
    third = log(fs).publish(compact("s"))
    assert third is not None
    assert third.id == 3


def test_files_that_only_an_expired_snapshot_named_are_deleted() -> None:
    fs = prepared()
    first = log(fs).latest()
    log(fs).publish(compact())
    fs.time = NOW.replace(year=NOW.year + 1)
    assert first is not None
    assert expired(fs) == [2]
    assert not any(first.delta in path for path in fs.files)
