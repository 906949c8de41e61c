"""What must hold in every state of the cluster, told from the rows alone and by none of the jobs' own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spark_jobs.adapters.hadoop.sql import RUN_PROPERTY
from spark_jobs.core.values.model import TableName
from tests.crash import model_metastore
from tests.crash.model_spark import decode_rows, visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.simulated_cluster import SimulatedCluster

_HOME = ".lakekeeper"


def own_tables(sim: SimulatedCluster) -> list[str]:
    """All tables but the backups."""
    found = sim.metastore.tables()
    return [str(name) for name, table in found if RUN_PROPERTY not in table.facts.properties]


def live_rows(sim: SimulatedCluster, table: str) -> Counter[int]:
    """What a query of the table returns: visible, closed files at the locations that the metastore has."""
    rows: Counter[int] = Counter()
    for unit in sim.units(table):
        rows.update(visible_rows(sim.tree, unit.location))
    return rows


def journaled_rows(sim: SimulatedCluster) -> set[int]:
    """Rows that are kept in a folder of ours, whether a reader sees them or not."""
    kept: set[int] = set()
    for path, _, inode in sim.tree.walk(AUTHORITY):
        if not inode.is_dir and f"/{_HOME}" in path.rsplit("/", 1)[0]:
            kept.update(decode_rows(inode.content) or ())
    return kept


def check(
    sim: SimulatedCluster,
    tables: Sequence[str] | None = None,
    journaled: bool = False,
    repaired: bool = True,
    resurrected: bool = False,
) -> list[str]:
    """Violations, as sentences; none in a good cluster.

    `tables` are all that writers wrote to (by default all but backups). With `journaled` a row may also lie in a folder
    of ours, as after a crash. With `repaired` the same must hold after MSCK REPAIR TABLE. With `resurrected` rows that
    a writer had replaced must not come back.
    """
    names = own_tables(sim) if tables is None else tables
    found = _violations(sim, names, journaled, resurrected)
    if repaired:
        found += [f"after MSCK: {text}" for text in _violations(_repaired(sim, names), names, journaled)]
    return found


def _repaired(sim: SimulatedCluster, tables: Iterable[str]) -> SimulatedCluster:
    twin = sim.copy()
    for table in tables:
        model_metastore.msck(twin, TableName.parse(table))
    return twin


def _violations(
    sim: SimulatedCluster, tables: Sequence[str], journaled: bool, resurrected: bool = False
) -> list[str]:
    live: Counter[int] = Counter()
    for table in tables:
        live.update(live_rows(sim, table))
    kept = journaled_rows(sim) if journaled else set()
    found = {
        "lost": sim.ledger.due - live.keys() - kept,
        "live twice": {row for row, times in live.items() if times > 1},
        "live although nobody committed them": live.keys() - sim.ledger.committed,
        "live although they were replaced": live.keys() & sim.ledger.overwritten if resurrected else set(),
    }
    return [f"rows {sorted(rows)} are {what}" for what, rows in found.items() if rows]
