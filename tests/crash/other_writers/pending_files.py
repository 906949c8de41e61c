"""What another writer has still to rename in the table without partitions, and the verbs around it."""

from __future__ import annotations

from typing import Any

from spark_jobs.core.values.model import name_of
from tests.crash.flat_table import AT_ONCE, HOME, LIVE
from tests.crash.model_spark import encode_rows
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

DAY = 24 * 3600
PENDING, FINAL = f"{LIVE}/.part-0-0.inprogress.7d2c", f"{LIVE}/part-0-0"


def rollback(client: Client) -> dict[str, Any]:
    return run(client, "rollback", "--table", FLAT)


def cleanup(client: Client) -> dict[str, Any]:
    return run(client, "cleanup", "--table", FLAT, *AT_ONCE)


def put(sim: SimulatedCluster, path: str, content: bytes = b"") -> None:
    sim.tree.tick()
    sim.tree.write(path, content)


def pending(sim: SimulatedCluster) -> list[int]:
    """A writer has closed a file, and waits for its checkpoint to give it its name."""
    ids = sim.ledger.fresh(2)
    put(sim, PENDING, encode_rows(ids))
    return ids


def commit(sim: SimulatedCluster, ids: list[int]) -> bool:
    """The checkpoint is complete: the file gets its name, or the writer fails and has committed nothing."""
    done = sim.tree.raw_rename(PENDING, FINAL)
    if done:
        sim.ledger.committed.update(ids)
    return done


def took_along(sim: SimulatedCluster, name: str = name_of(PENDING)) -> None:
    """A hidden file lies with the originals, which no journal lists."""
    (old,) = {
        path for path, _, inode in sim.tree.walk(HOME) if path.endswith("/flat") and "/__originals_" in path
    }
    sim.tree.rename(PENDING, f"{old}/{name}")
