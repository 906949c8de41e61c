"""Guards of what may change without a trace in a listing: files that are opened again, and who may read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import LIVE, compact, only, out, outcomes, written
from tests.crash.model_handle import Handle, open_again
from tests.crash.model_metastore import register
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster

_TEXT = ("org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe")
CLOSED = 0o700


@pytest.fixture
def lines() -> SimulatedCluster:
    """The flat table is one of lines: its files have no footers."""
    sim, name = build(), TableName.parse(FLAT)
    facts = sim.metastore.get(name).facts
    input_format, serde = _TEXT
    storage = replace(facts.storage, input_format=input_format, serde=serde)
    sim.metastore.drop(name)
    register(sim, name, replace(facts, storage=storage))
    return sim


class Appender:
    """Opens the first file of the live directory again, and writes nothing until it is closed."""

    def __init__(self, sim: SimulatedCluster) -> None:
        self._sim = sim
        self._handle: Handle | None = None

    def open(self) -> None:
        (self._name, _), *_ = self._sim.tree.files(LIVE)
        self._number = self._sim.tree.find(f"{LIVE}/{self._name}")
        self._handle = open_again(self._sim.tree, f"{LIVE}/{self._name}")

    def ends_up_in_the_table(self) -> bool:
        assert self._handle is not None
        self._handle.close()
        return self._sim.tree.find(f"{LIVE}/{self._name}") == self._number


class TestLines:
    @pytest.mark.parametrize("moment", [written, out], ids=["before the last look", "after it"])
    def test_a_file_that_is_opened_again_stays_its_writers(
        self, lines: SimulatedCluster, moment: Callable[..., bool]
    ) -> None:
        appender = Appender(lines)
        report = compact(lines.client(Fault.hook(moment, appender.open)))
        assert (outcomes(report), report["exit_code"]) == (["changed"], 0)
        assert appender.ends_up_in_the_table()
        assert check(lines) == []

    def test_one_that_was_opened_again_before_the_swap_is_never_moved(self, lines: SimulatedCluster) -> None:
        client = lines.client(Fault.hook(written, Appender(lines).open))
        assert only(compact(client))["units"][0]["code"] == "ACTIVE_WRITER"
        assert not any(out(point) for point in client.trace)

    @pytest.mark.parametrize("moment", ["before it", "as the rewritten files leave"])
    def test_a_rollback_takes_no_file_from_its_writer(self, lines: SimulatedCluster, moment: str) -> None:
        assert outcomes(compact(lines.client())) == ["compacted"]
        appender, faults = Appender(lines), []
        if moment == "before it":
            appender.open()
        else:
            faults = [Fault.hook(out, appender.open)]
        report = run(lines.client(*faults), "rollback", "--table", FLAT)
        assert (outcomes(report), report["exit_code"]) == (["failed"], 1)
        assert appender.ends_up_in_the_table()
        assert check(lines) == []


def _close(sim: SimulatedCluster, path: str = LIVE) -> Callable[[], Any]:
    def act() -> None:
        number = sim.tree.find(path)
        assert number is not None
        sim.tree.change(number, mode=CLOSED)

    return act


def _mode(sim: SimulatedCluster, path: str = LIVE) -> int:
    found = sim.tree.get(path)
    assert found is not None
    return found.mode


class TestRights:
    def test_what_is_closed_while_it_is_compacted_stays_closed(self) -> None:
        sim = build()
        report = compact(sim.client(Fault.hook(written, _close(sim))))
        assert (outcomes(report), report["exit_code"]) == (["changed"], 0)
        assert (_mode(sim), check(sim)) == (CLOSED, [])

    def test_a_file_that_is_closed_while_it_is_compacted_stays_closed(self) -> None:
        sim = build()
        (name, _), *_ = sim.tree.files(LIVE)
        path = f"{LIVE}/{name}"
        report = compact(sim.client(Fault.hook(written, _close(sim, path))))
        assert (outcomes(report), report["exit_code"]) == (["changed"], 0)
        assert (_mode(sim, path), check(sim)) == (CLOSED, [])

    def test_what_is_closed_before_the_retry_of_a_dead_attempt_stays_closed(self) -> None:
        sim = build()
        with pytest.raises(Killed):
            compact(sim.client(Fault.crash_before(out)))
        _close(sim)()
        report = compact(sim.client())
        assert (outcomes(report), _mode(sim), check(sim)) == (["compacted"], CLOSED, [])

    def test_a_unit_that_goes_before_the_retry_of_a_dead_attempt_is_no_failure(self) -> None:
        sim = build()
        with pytest.raises(Killed):
            compact(sim.client(Fault.crash_before(out)))
        client = sim.client(Fault.hook(_first_look, lambda: sim.tree.remove(LIVE, recursive=True)))
        assert outcomes(compact(client)) == ["changed"]


def _first_look(point: Any) -> bool:
    return point.op == "attributes" and point.args[0] == LIVE
