"""Damage that somebody may do to a table, its originals, its journals or its backup tables, each with its code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, HOME, LIVE, compact, into, originals
from tests.crash.planted_records import (
    content,
    journal_deleted,
    log_of_a_rollback,
    log_of_an_unknown_kind,
    log_of_other_figures,
    log_of_other_files,
    manifest_list_torn,
    manifest_lost,
    record_lost,
    record_of_a_newer_version,
    record_of_a_stranger,
    record_that_leads_elsewhere,
    record_torn,
    row_counts_lost,
    run_that_is_not_logged,
    snapshot_torn,
)
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import restored_from_copy

DAY = 24 * 3600.0


def first_file(sim: SimulatedCluster, place: str) -> str:
    return f"{place}/{sim.tree.files(place)[0][0]}"


def _truncate(sim: SimulatedCluster, path: str) -> None:
    number = sim.tree.find(path)
    assert number is not None
    sim.tree.change(number, content=content(sim, path)[:-5])


def _breakcontent(sim: SimulatedCluster, path: str) -> None:
    """Names, sizes and times stay: what a disk does."""
    number = sim.tree.find(path)
    assert number is not None
    sim.tree.change(number, content=b"x" * sim.tree.inodes[number].length)


def table_restored_from_a_copy(sim: SimulatedCluster) -> None:
    restored_from_copy(sim, LIVE, HOME)


def folder_of_a_dead_driver(sim: SimulatedCluster) -> None:
    sim.tree.write(f"{HOME}/r0.0123456789ab/__compact_tmp_1772323100/part-0.parquet", b"x", parents=True)
    sim.advance(2 * DAY)


def originals_deleted(sim: SimulatedCluster) -> None:
    sim.tree.remove(originals(sim), recursive=True)


def originals_moved_back(sim: SimulatedCluster) -> None:
    """As docs/safety/manual-restore.md has it, with rows of a writer since."""
    place = originals(sim)
    sim.tree.rename(LIVE, f"{HOME}/by-hand")
    sim.tree.rename(place, LIVE)
    writers.append(sim, LIVE, sim.ledger.fresh(2))


def originals_replaced(sim: SimulatedCluster) -> None:
    restored_from_copy(sim, originals(sim))


def original_file_deleted(sim: SimulatedCluster) -> None:
    sim.tree.remove(first_file(sim, originals(sim)))


def original_file_truncated(sim: SimulatedCluster) -> None:
    _truncate(sim, first_file(sim, originals(sim)))


def original_file_written_again(sim: SimulatedCluster) -> None:
    """The same bytes, as another file."""
    path = first_file(sim, originals(sim))
    sim.tree.write(path, content(sim, path), overwrite=True)


def file_added_to_the_originals(sim: SimulatedCluster) -> None:
    writers.append(sim, originals(sim), sim.ledger.fresh(2))


def folder_added_to_the_originals(sim: SimulatedCluster) -> None:
    sim.tree.make_dirs(f"{originals(sim)}/sub")


def original_file_with_a_broken_footer(sim: SimulatedCluster) -> None:
    _breakcontent(sim, first_file(sim, originals(sim)))


def originals_forgotten(sim: SimulatedCluster) -> None:
    original_file_deleted(sim)
    run(sim.client(), "forget", "--table", FLAT, "--run-id", "r1", "--yes")


def claimed_originals_with_a_file_of_somebody(sim: SimulatedCluster) -> None:
    with pytest.raises(Killed):
        run(sim.client(Fault.crash_before(_deletes)), "cleanup", "--table", FLAT, *AT_ONCE)
    claimed = next(
        path for path, _, _ in sim.tree.walk(HOME) if "__claimed" in path and path.endswith("flat")
    )
    sim.tree.write(f"{claimed}/part-of-somebody.parquet", b"x")


def live_deleted(sim: SimulatedCluster) -> None:
    sim.tree.remove(LIVE, recursive=True)


def live_emptied(sim: SimulatedCluster) -> None:
    for name, _ in sim.tree.files(LIVE):
        sim.tree.remove(f"{LIVE}/{name}")


def rewritten_file_deleted(sim: SimulatedCluster) -> None:
    """Rows that were added since are no substitute."""
    live_emptied(sim)
    writers.append(sim, LIVE, sim.ledger.fresh(2))


def rewritten_file_truncated(sim: SimulatedCluster) -> None:
    _truncate(sim, first_file(sim, LIVE))


def rewritten_file_with_a_broken_footer(sim: SimulatedCluster) -> None:
    _breakcontent(sim, first_file(sim, LIVE))


def _backup(sim: SimulatedCluster) -> TableName:
    return next(
        name
        for name, _ in sim.metastore.tables()
        if name.table.startswith("__bkp_") and name.table.endswith("_flat")
    )


def backup_table_dropped(sim: SimulatedCluster) -> None:
    sim.metastore.drop(_backup(sim))


def backup_table_moved(sim: SimulatedCluster) -> None:
    known = sim.metastore.get(_backup(sim))
    elsewhere = replace(known.facts.storage, location=LIVE)
    sim.metastore.put(_backup(sim), replace(known, facts=replace(known.facts, storage=elsewhere)))


def backup_table_kept(sim: SimulatedCluster) -> None:
    """A cleanup could not drop it."""
    name, known = _backup(sim), sim.metastore.get(_backup(sim))
    run(sim.client(), "cleanup", "--table", FLAT, *AT_ONCE)
    sim.metastore.put(name, known)


def run_killed(sim: SimulatedCluster) -> None:
    run(sim.client(), "rollback", "--table", FLAT)
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(into)), run_id="r2")


def lease_left(sim: SimulatedCluster) -> None:
    sim.tree.write(f"{HOME}/lease-000099", b"{}")
    sim.advance(DAY)


def swap_without_originals(sim: SimulatedCluster) -> None:
    """A compaction dies after the second rename, somebody deletes the originals, and the next one gives up."""
    run_killed(sim)
    place = next(path for path, _, _ in sim.tree.walk(HOME) if "/r2" in path and path.endswith("/flat"))
    sim.tree.remove(place, recursive=True)
    compact(sim.client(), run_id="r3")


def writer_of_unknown_kind(sim: SimulatedCluster) -> None:
    run(sim.client(), "rollback", "--table", FLAT)
    replaced = Fault.hook(into, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2)))
    compact(sim.client(replaced), run_id="r2")
    assert run(sim.client(), "compact", "--table", FLAT, "--run-id", "r3")["exit_code"] == 3


def originals_not_readable(sim: SimulatedCluster) -> None:
    number = sim.tree.find(originals(sim))
    assert number is not None
    sim.tree.change(number, mode=0o700, owner="eve")


def rewritten_rows_exchanged(sim: SimulatedCluster) -> None:
    """Another file of the same size: only its rows tell."""
    number = sim.tree.find(first_file(sim, LIVE))
    assert number is not None
    content = sim.tree.inodes[number].content
    sim.tree.change(number, content=content.replace(b"1, ", b"9, ", 1))


def _deletes(point: Point) -> bool:
    return point.op == "delete_tree"


@dataclass(frozen=True)
class Plant:
    """What somebody does to the compacted flat table, and the codes that a check must find, and no others.

    Attributes:
        obeyed: the command of the finding ends it, as it stands.
    """

    do: Callable[[SimulatedCluster], None]
    codes: tuple[str, ...]
    damage: bool = True
    words: tuple[str, ...] = ()
    obeyed: bool = True


_READ_DATA = ("--read-data",)
PLANTS = {
    plant.do.__name__: plant
    for plant in (
        *(Plant(do, ("JOURNAL_UNREADABLE",)) for do in (record_torn, record_lost)),
        Plant(record_of_a_newer_version, ("OTHER_VERSION",), obeyed=False),
        *(Plant(do, ("JOURNAL_UNREADABLE",)) for do in (record_that_leads_elsewhere, record_of_a_stranger)),
        Plant(journal_deleted, ("JOURNAL_MISSING",)),
        Plant(table_restored_from_a_copy, ("JOURNAL_OF_COPY",), damage=False),
        Plant(folder_of_a_dead_driver, ("FOLDER_ABANDONED",), damage=False),
        Plant(originals_deleted, ("ORIGINALS_MISSING",)),
        Plant(originals_moved_back, ("ORIGINALS_RESTORED",), damage=False),
        *(
            Plant(do, ("ORIGINALS_CHANGED",))
            for do in (
                originals_replaced,
                original_file_deleted,
                original_file_truncated,
                original_file_written_again,
                file_added_to_the_originals,
                folder_added_to_the_originals,
            )
        ),
        Plant(
            claimed_originals_with_a_file_of_somebody, ("RUN_UNFINISHED", "ORIGINALS_CHANGED"), obeyed=False
        ),
        Plant(originals_forgotten, ("ORIGINALS_FORGOTTEN",), damage=False),
        Plant(live_deleted, ("LIVE_MISSING",)),
        *(
            Plant(do, ("LIVE_CHANGED",))
            for do in (live_emptied, rewritten_file_deleted, rewritten_file_truncated)
        ),
        Plant(original_file_with_a_broken_footer, ("FOOTER_UNREADABLE",), obeyed=False),
        Plant(rewritten_file_with_a_broken_footer, ("FOOTER_UNREADABLE",)),
        Plant(backup_table_dropped, ("BACKUP_TABLE_MISSING",), damage=False),
        Plant(backup_table_moved, ("BACKUP_TABLE_ELSEWHERE",)),
        Plant(backup_table_kept, ("BACKUP_TABLE_STALE",), damage=False),
        Plant(run_killed, ("RUN_UNFINISHED",), damage=False),
        Plant(lease_left, ("LEASE_STALE",), damage=False, obeyed=False),
        Plant(swap_without_originals, ("SWAP_UNDECIDED",)),
        Plant(writer_of_unknown_kind, ("SWAP_UNDECIDED",), obeyed=False),
        *(
            Plant(do, ("LOG_UNREADABLE",))
            for do in (snapshot_torn, manifest_lost, manifest_list_torn, row_counts_lost)
        ),
        *(
            Plant(do, ("LOG_INCONSISTENT",))
            for do in (log_of_other_files, log_of_other_figures, log_of_a_rollback, log_of_an_unknown_kind)
        ),
        Plant(run_that_is_not_logged, ("LOG_INCONSISTENT",), damage=False, obeyed=False),
        Plant(originals_not_readable, ("NOT_CHECKED",), obeyed=False),
        Plant(rewritten_rows_exchanged, ("ROWS_DIFFER",), words=_READ_DATA),
    )
}
