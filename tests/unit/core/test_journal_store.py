"""A journal on the file system: each record is read once, and every new one counts."""

from __future__ import annotations

from collections.abc import Callable

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import state_after
from spark_jobs.protocol.runs.journal_store import Journal
from tests.unit.core.faulty_memory_fs import MemoryFs
from tests.unit.core.journaled_runs import ONE, journaled


def reads(fs: MemoryFs, act: Callable[[], object]) -> int:
    before = fs.calls.count("read")
    act()
    return fs.calls.count("read") - before


def test_a_process_never_reads_the_records_that_it_has_written_or_read() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r1", "a")
    assert reads(fs, run.current) == 0
    other = Journal(fs, run.directory)
    assert [reads(fs, other.state), reads(fs, other.state)] == [3, 0]


def test_records_of_other_processes_count() -> None:
    fs = MemoryFs()
    run = journaled(fs, "r1", "a")
    Journal(fs, run.directory).append(journal.CLEANED, units=[{"unit": ONE.unit.key}])
    state = run.current()
    assert state.units[ONE.unit.key].kind == journal.CLEANED
    assert state == Journal(fs, run.directory).state()


def test_the_state_after_some_records_and_those_after_it_is_the_state_after_all() -> None:
    fs = MemoryFs()
    folder = journaled(fs, "r1", "a", journal.ROLLBACK_PREPARED, journal.ROLLED_BACK).directory
    texts = [fs.files[path][0] for path in sorted(fs.files) if path.startswith(f"{folder}/")]
    records = [journal.Record.decode(text, "") for text in texts]
    for number in range(len(records) + 1):
        assert state_after(records[number:], state_after(records[:number])) == state_after(records)


def test_a_directory_with_other_records_than_before_is_read_from_the_start() -> None:
    """As after a restore of an earlier state of it."""
    fs = MemoryFs()
    run = journaled(fs, "r1", "a", journal.CLEANED)
    assert run.current().units[ONE.unit.key].final
    del fs.files[f"{run.directory}/journal/000004.json"]
    assert not run.current().units[ONE.unit.key].final
