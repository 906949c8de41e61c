"""What the verbs write into the commit log from the journals, and what happens where they cannot."""

from __future__ import annotations

from spark_jobs.core.records import journal
from spark_jobs.core.records.change import schema_hash
from spark_jobs.core.records.snapshots import CLEANUP, COMPACT, ROLLBACK
from spark_jobs.protocol.commit_log.publisher import log_of
from tests.unit.core.faulty_memory_fs import HOME, MemoryFs, fine
from tests.unit.core.journaled_runs import FACTS, ONE, journaled, publish


def test_each_verb_logs_what_it_did_and_what_is_lacking() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a")
    assert publish(fs, [run], COMPACT) == []
    run.journal.append(journal.ROLLED_BACK, units=[{"unit": ONE.unit.key}])
    other = journaled(fs, "s", "b", journal.CLEANED, minute=-1)
    assert publish(fs, [run, other], ROLLBACK) == []
    assert publish(fs, [run, other], ROLLBACK) == []
    found = log_of(fs, FACTS, fs.now).snapshots()
    assert [(s.run_id, s.kind, s.who) for s in found] == [
        ("r", "compact", "etl"),
        ("s", "compact", "etl"),
        ("s", "cleanup", None),
        ("r", "rollback", "operator"),
    ]
    assert [s.schema_hash for s in found] == [schema_hash(FACTS), None, None, schema_hash(FACTS)]


def test_a_log_that_cannot_be_written_is_a_warning() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a")

    def full(number: int, name: str, done: bool) -> None:
        if name == "mkdirs":
            raise PermissionError("not yours")

    fs.fault = full
    [warning] = publish(fs, [run], COMPACT)
    assert "not yours" in warning
    fs.fault = fine
    assert publish(fs, [run], COMPACT) == []
    assert len(log_of(fs, FACTS, fs.now).snapshots()) == 1


def test_a_table_without_a_home_of_its_own_has_no_log() -> None:
    fs = MemoryFs()
    fs.folders.clear()
    assert publish(fs, [], COMPACT) == []
    assert fs.folders == set()


def test_a_cleanup_sweeps_what_crashes_left() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r", "a", journal.CLEANED)
    publish(fs, [run], COMPACT)
    left = f"{HOME}/log/manifest/manifest-{1:032x}"
    fs.files[left] = b"", 0
    publish(fs, [run], COMPACT)
    assert left in fs.files
    assert publish(fs, [run], CLEANUP) == []
    assert left not in fs.files
