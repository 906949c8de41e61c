"""A task that Spark has given up goes on, and creates a directory among the files that were written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash import writers
from tests.crash.explorer import Act, points
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_spark import ModelRewriter
from tests.crash.oracle import check
from tests.crash.scenario import WAREHOUSE
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import by_outcome, job, reasons, uneven

WORDS = ("--verify", "hash")


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The partitions of which a late task creates a directory, after the commit of the write."""
    partitions, write = ["b"], ModelRewriter.write

    def written(self: ModelRewriter, request: Any) -> Any:
        result = write(self, request)
        if request.target.rsplit("=", 1)[-1] in partitions:
            self._fs.mkdirs(f"{request.target}/_temporary/0/_temporary")
            self._fs.create(f"{request.target}/_temporary/0/_temporary/part-0", b"x")
        return result

    monkeypatch.setattr(ModelRewriter, "write", written)
    return partitions


def _next_night(sim: SimulatedCluster) -> None:
    """Files are added, but not in the gap of a swap: whether such rows belong to the originals nobody has said."""
    sim.advance(48 * 3600)
    for _ in range(2 if sim.tree.find(f"{WAREHOUSE}/uneven/k=c") else 0):
        writers.append(sim, f"{WAREHOUSE}/uneven/k=c", sim.ledger.fresh(1))


def test_only_that_unit_fails_and_the_next_night_it_is_compacted(late: list[str]) -> None:
    sim = uneven()
    report = job(sim, "compact", *WORDS)
    assert (report["outcome"], report["exit_code"]) == ("partial", 1)
    assert by_outcome(report, "failed") == ["b"]
    (reason,) = reasons(report, "failed")
    assert reason.endswith("_temporary is a directory: a late task of this write has created it")
    assert sorted(by_outcome(report, "compacted")) == ["a", "c", "d", "e"]
    _next_night(sim)
    late.clear()
    assert sorted(by_outcome(job(sim, "compact", *WORDS), "compacted")) == ["b", "c"]
    assert check(sim, journaled=True) == []


def test_whenever_the_job_dies_the_table_can_be_compacted_and_rolled_back(late: list[str]) -> None:
    act = Act("compact", ("--table", "sales.uneven", *WORDS))
    for point in range(1, points(uneven(), act) + 1, 3):
        sim = uneven()
        late[:] = ["b"]
        with pytest.raises(Killed):
            act(sim.client(Fault.crash_before(point)))
        late.clear()
        _next_night(sim)
        assert job(sim, "compact", *WORDS)["exit_code"] == 0, f"point {point}"
        assert check(sim, journaled=True) == [], f"point {point}"
        assert job(sim, "rollback")["exit_code"] == 0, f"point {point}"


def test_a_directory_that_cannot_be_deleted_does_not_hide_what_was_swapped(
    late: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = uneven()

    delete = ModelFileSystem.delete_tree

    def refuse(self: ModelFileSystem, path: str) -> None:
        if path.endswith("k=b"):
            raise PermissionError(f"{path}: permission denied")
        delete(self, path)

    monkeypatch.setattr(ModelFileSystem, "delete_tree", refuse)
    report = job(sim, "compact", *WORDS)
    assert sorted(by_outcome(report, "compacted")) == ["a", "c", "d", "e"]
    _next_night(sim)
    late.clear()
    assert sorted(by_outcome(job(sim, "compact", *WORDS), "compacted")) == ["b", "c"]
