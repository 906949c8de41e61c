"""Damage to the journal of the flat table's run, and to the commit log of the table."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from tests.crash.explorer import runs_of
from tests.crash.flat_table import HOME, append, compact
from tests.crash.scenario import FLAT
from tests.crash.simulated_cluster import SimulatedCluster

_SNAPSHOTS, _MANIFESTS = f"{HOME}/log/snapshot", f"{HOME}/log/manifest"


def folder(sim: SimulatedCluster) -> str:
    """The folder of the flat table's run."""
    (found,) = runs_of(sim, [FLAT])
    return found.directory


def content(sim: SimulatedCluster, path: str) -> bytes:
    inode = sim.tree.get(path)
    assert inode is not None
    return inode.content


def _record(sim: SimulatedCluster, number: int) -> str:
    return f"{folder(sim)}/journal/{number:06d}.json"


def record_torn(sim: SimulatedCluster) -> None:
    sim.tree.write(_record(sim, 2), b"{", overwrite=True)


def record_lost(sim: SimulatedCluster) -> None:
    sim.tree.remove(_record(sim, 2))


def record_of_a_newer_version(sim: SimulatedCluster) -> None:
    sim.tree.write(_record(sim, 2), b'{"schema_version": 2, "version": "9.0"}', overwrite=True)


def record_that_leads_elsewhere(sim: SimulatedCluster) -> None:
    path = _record(sim, 2)
    sim.tree.write(path, content(sim, path).replace(b"__originals_", b"../__originals_"), overwrite=True)


def record_of_a_stranger(sim: SimulatedCluster) -> None:
    number = sim.tree.find(_record(sim, 2))
    assert number is not None
    sim.tree.change(number, owner="eve", mode=0o644)


def journal_deleted(sim: SimulatedCluster) -> None:
    sim.tree.remove(f"{folder(sim)}/journal", recursive=True)


def snapshot_torn(sim: SimulatedCluster) -> None:
    sim.tree.write(f"{_SNAPSHOTS}/snapshot-1", b"{", overwrite=True)


def manifest_lost(sim: SimulatedCluster) -> None:
    lists = [
        name for name, _ in sim.tree.files(_MANIFESTS) if not name.startswith(("manifest-list", "rows-"))
    ]
    sim.tree.remove(f"{_MANIFESTS}/{lists[0]}")


def row_counts_lost(sim: SimulatedCluster) -> None:
    (name,) = [name for name, _ in sim.tree.files(_MANIFESTS) if name.startswith("rows-")]
    sim.tree.remove(f"{_MANIFESTS}/{name}")


def manifest_list_torn(sim: SimulatedCluster) -> None:
    lists = [name for name, _ in sim.tree.files(_MANIFESTS) if name.startswith("manifest-list")]
    sim.tree.write(f"{_MANIFESTS}/{lists[0]}", b"\x1f\x8b", overwrite=True)


def _rewrite(sim: SimulatedCluster, path: str, change: Callable[[str], str]) -> None:
    """Change the text in a compressed file of the log."""
    before = gzip.decompress(content(sim, path)).decode()
    after = change(before)
    assert after != before
    sim.tree.write(path, gzip.compress(after.encode()), overwrite=True)


def _manifests(sim: SimulatedCluster, lists: bool) -> list[str]:
    names = [name for name, _ in sim.tree.files(_MANIFESTS)]
    manifests = [name for name in names if name.startswith("manifest-")]
    return [f"{_MANIFESTS}/{name}" for name in manifests if name.startswith("manifest-list") == lists]


def log_of_other_files(sim: SimulatedCluster) -> None:
    """The log says that the run has added another file than its journal does."""
    (path,) = _manifests(sim, lists=False)
    entries = [json.loads(line) for line in gzip.decompress(content(sim, path)).splitlines()]
    added = next(entry["file"] for entry in entries if entry["kind"] == "ADD")
    _rewrite(sim, path, lambda text: text.replace(added, "part-of-another-run.parquet"))


def _change_units(sim: SimulatedCluster, change: Callable[[dict[str, Any]], object]) -> None:
    for path in _manifests(sim, lists=True):
        body = json.loads(gzip.decompress(content(sim, path)))
        for unit in body["units"]:
            change(unit)
        sim.tree.write(path, gzip.compress(json.dumps(body).encode()), overwrite=True)


def log_of_other_figures(sim: SimulatedCluster) -> None:
    """The log says that the run has written more bytes than its journal does."""
    _change_units(sim, lambda unit: unit["after"].update(bytes=unit["after"]["bytes"] + 1))


def _change_kind(sim: SimulatedCluster, kind: str) -> None:
    path = f"{_SNAPSHOTS}/snapshot-1"
    body = json.loads(content(sim, path))
    sim.tree.write(path, json.dumps({**body, "kind": kind}).encode(), overwrite=True)


def log_of_a_rollback(sim: SimulatedCluster) -> None:
    """The log says that the run was rolled back, and it was not."""
    _change_kind(sim, "rollback")


def log_of_an_unknown_kind(sim: SimulatedCluster) -> None:
    _change_kind(sim, "purge")


def run_that_is_not_logged(sim: SimulatedCluster) -> None:
    """The log was deleted, as a finding may advise, and has later runs only."""
    sim.tree.remove(f"{HOME}/log", recursive=True)
    for _ in range(6):
        append(sim)()
    compact(sim.client(), run_id="r2")
