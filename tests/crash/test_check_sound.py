"""`check` is silent where nothing is damaged, and gives notices only after a kill at any call."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.checked import check, codes, findings
from tests.crash.crashes import crash_states
from tests.crash.explorer import Act, acts, after
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import LIVE, append, clean_up, compact, into, roll_back
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

BOTH = f"{EVENTS},{FLAT}"


def _compacted(sim: SimulatedCluster) -> None:
    assert compact(sim.client(), BOTH)["exit_code"] == 0


def _appended(sim: SimulatedCluster) -> None:
    _compacted(sim)
    append(sim)()
    append(sim, f"{WAREHOUSE}/events/k=a")()


def _recreated(sim: SimulatedCluster) -> None:
    _compacted(sim)
    for place in (LIVE, f"{WAREHOUSE}/events/k=a", f"{AUTHORITY}/elsewhere/c"):
        writers.overwrite_by_recreation(sim, place, sim.ledger.fresh(3))


def _overwritten_in_place(sim: SimulatedCluster) -> None:
    declare(sim, FLAT, "lakekeeper.writers", "overwrite")
    _compacted(sim)
    writers.overwrite_in_place(sim, LIVE, sim.ledger.fresh(3))


def _overwritten_in_place_after_a_cleanup(sim: SimulatedCluster) -> None:
    _compacted(sim)
    clean_up(sim)
    writers.overwrite_in_place(sim, LIVE, sim.ledger.fresh(3))


def _dropped(sim: SimulatedCluster) -> None:
    _compacted(sim)
    writers.drop_partition(sim, EVENTS, "a")
    writers.drop_partition(sim, EVENTS, "b", delete_data=True)
    writers.drop_partition(sim, EVENTS, "c", delete_data=True)


def _compacted_twice(sim: SimulatedCluster) -> None:
    _appended(sim)
    append(sim)()
    assert compact(sim.client(), BOTH, "r2")["exit_code"] == 0


def _rolled_back(sim: SimulatedCluster) -> None:
    _appended(sim)
    assert roll_back(sim, FLAT)["exit_code"] == roll_back(sim, EVENTS)["exit_code"] == 0


def _cleaned(sim: SimulatedCluster) -> None:
    _appended(sim)
    assert clean_up(sim)["exit_code"] == clean_up(sim, EVENTS)["exit_code"] == 0


def _folded(sim: SimulatedCluster) -> None:
    """The first run is cleaned up, and folded two days later."""
    _cleaned(sim)
    sim.advance(2 * 24 * 3600)
    for place in (LIVE, f"{WAREHOUSE}/events/k=a"):
        for _ in range(6):
            append(sim, place)()
    assert compact(sim.client(), BOTH, "r2")["exit_code"] == 0
    assert [path for path, _, _ in sim.tree.walk(AUTHORITY) if path.endswith("/settled")]


def test_a_record_of_settled_runs_that_cannot_be_read_is_damage() -> None:
    sim = build()
    _folded(sim)
    (record, *_) = [path for path, _, _ in sim.tree.walk(LIVE.rsplit("/", 1)[0]) if "/settled/" in path]
    sim.tree.write(record, b"no gzip", overwrite=True)
    assert codes(check(sim, BOTH)) == ["JOURNAL_UNREADABLE"]


def _retried(sim: SimulatedCluster) -> None:
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(into)), BOTH)
    _compacted(sim)


def _renamed(sim: SimulatedCluster) -> None:
    """ALTER TABLE RENAME of an external table: the directory stays."""
    _compacted(sim)
    known = sim.metastore.get(TableName.parse(FLAT))
    sim.metastore.drop(TableName.parse(FLAT))
    writers.create_table(sim, FLAT, known.facts.storage.location)


def _without_backup_tables(sim: SimulatedCluster) -> None:
    for table in (EVENTS, FLAT):
        declare(sim, table, "lakekeeper.register_backup", "false")
    _compacted(sim)


def _never_compacted(_: SimulatedCluster) -> None: ...


SOUND = (
    _never_compacted,
    _compacted,
    _appended,
    _recreated,
    _overwritten_in_place,
    _overwritten_in_place_after_a_cleanup,
    _dropped,
    _compacted_twice,
    _rolled_back,
    _cleaned,
    _folded,
    _retried,
    _renamed,
    _without_backup_tables,
)


@pytest.mark.parametrize("make", SOUND)
def test_without_damage_there_is_no_finding(make: Callable[[SimulatedCluster], None]) -> None:
    sim = build()
    make(sim)
    report = check(sim, BOTH)
    assert (findings(report), report["exit_code"], report["error"]) == ([], 0, None)
    assert report["outcome"] == ("nothing" if make is _never_compacted else "done")


@pytest.mark.parametrize(("act", "before"), acts(BOTH), ids=str)
def test_a_kill_at_any_call_leaves_notices_only(act: Act, before: list[Act]) -> None:
    for state in crash_states(after(build(), before), act):
        report = check(state.sim, BOTH)
        assert {finding["severity"] for finding in findings(report)} <= {"notice"}, (str(state), report)
        assert report["exit_code"] == 0, str(state)


@pytest.mark.parametrize("make", [_recreated, _compacted_twice, _dropped])
def test_rows_of_a_unit_that_was_written_to_are_not_compared(
    make: Callable[[SimulatedCluster], None],
) -> None:
    sim = build()
    make(sim)
    report = check(sim, BOTH, "--read-data")
    assert set(codes(report)) == {"ROWS_NOT_COMPARED"}
    assert report["exit_code"] == 0
