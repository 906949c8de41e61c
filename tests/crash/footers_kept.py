"""What an analysis keeps of footers for the compaction of the table FLAT, and how many a compaction reads."""

from __future__ import annotations

from collections.abc import Callable

from spark_jobs.core.planning.kept_footers import KeptFooters, decode, encode
from tests.crash.flat_table import HOME, LIVE
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster

FOLDER = f"{HOME}/log/footers"


def kept(sim: SimulatedCluster) -> list[str]:
    found = sim.tree.get(FOLDER)
    return sorted(found.children) if found else []


def analyze(sim: SimulatedCluster) -> list[str]:
    """Analyse the table; return the names of the files of kept footers."""
    assert run(sim.client(), "analyze", "--table", FLAT)["tables"][0]["outcome"] == "done"
    return kept(sim)


def footers_read(sim: SimulatedCluster, run_id: str = "r1") -> int:
    """Compact the table; return how many originals had their footers read."""
    client = sim.client()
    report = run(client, "compact", "--table", FLAT, "--run-id", run_id)
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"], report
    assert check(sim) == []
    files = {file for point in client.trace if point.op == "footers" for file in point.args}
    return sum(file.startswith(f"{LIVE}/") for file in files)


def rewritten(sim: SimulatedCluster, change: Callable[[KeptFooters], KeptFooters]) -> None:
    """Change what the only file of kept footers says."""
    (name,) = kept(sim)
    path = f"{FOLDER}/{name}"
    inode = sim.tree.get(path)
    assert inode is not None
    changed = change(decode(inode.content, path))
    sim.tree.write(path, encode(changed), overwrite=True)
