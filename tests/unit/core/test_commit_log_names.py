"""A snapshot of the commit log is input: what it names must be a file of the log."""

from __future__ import annotations

import json

import pytest

from spark_jobs.core.records.change import change_of
from spark_jobs.core.records.snapshots import COMPACT, BrokenLog, ManifestList, ManifestMeta, Snapshot
from spark_jobs.protocol.commit_log.store import CommitLog
from tests.unit.core.faulty_memory_fs import HOME, NOW, MemoryFs, files, run_state, swap

RELATIVE = "../../../../../finance/ledger/part-0.json"


def log(fs: MemoryFs) -> CommitLog:
    return CommitLog(fs, HOME, lambda: NOW)


def published(fs: MemoryFs) -> Snapshot:
    found = log(fs).publish(change_of("r", run_state(swap("1", files("a"), files("c"))), COMPACT), {})
    assert found is not None
    return found


@pytest.mark.parametrize("field", ["base", "delta", "survey"])
@pytest.mark.parametrize("name", [RELATIVE, "/finance/ledger/part-0.json", "manifest-x/../y"])
def test_a_snapshot_leads_to_no_file_outside_the_log(field: str, name: str) -> None:
    """A message quotes what cannot be read, and shows it to whoever put the name there."""
    fs = MemoryFs()
    path = f"{HOME}/log/snapshot/snapshot-{published(fs).id}"
    fs.files[path] = json.dumps({**json.loads(fs.files[path][0]), field: name}).encode(), 0
    latest = log(fs).latest()
    assert latest is not None
    with pytest.raises(BrokenLog, match="no file of the log"):
        log(fs).survey() if field == "survey" else log(fs).files(latest)


@pytest.mark.parametrize("field", ["base", "delta"])
def test_nor_does_a_list_of_manifests(field: str) -> None:
    fs = MemoryFs()
    snapshot = published(fs)
    planted = ManifestList((ManifestMeta(RELATIVE, 10, 1, 0),))
    fs.files[f"{HOME}/log/manifest/{getattr(snapshot, field)}"] = planted.encode(), 0
    with pytest.raises(BrokenLog, match="no file of the log"):
        log(fs).files(snapshot)
