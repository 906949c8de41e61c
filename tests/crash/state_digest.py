"""One name for clusters that differ in times and in random ids only: from each of them the jobs do the same."""

from __future__ import annotations

import gzip
import hashlib
import re

from tests.crash.model_tree import AUTHORITY, Inode
from tests.crash.simulated_cluster import SimulatedCluster

_GZIP = b"\x1f\x8b"
#: All that the jobs compare for equality only: inode ids, times of files, run attempts, stamps, process names.
_TOKEN = re.compile(
    r'(?:hdfs:|"file_id": )(?P<inode>\d+)'
    r'|"mtime": (?P<mtime>\d+)'
    r"|(?P<iso>20\d\d-\d\d-\d\dT[0-9:.+Z]+)"
    r"|(?P<hex>[0-9a-f]{32}|[0-9a-f]{12}(?![0-9a-f])|(?<=lk)[0-9a-f]{8})"
    r"|(?P<stamp>(?<=__old_)\d{10}|(?<=__compact_tmp_)\d{10}|(?<=__undone_)\d{10}|(?<=__conflict_)\d{10}|20\d{6}_\d{6})"
    r"|(?P<process>(?<=-p)\d+(?=-c000))"
)


#: What only mirrors the journals, or says who worked last: the commit log, and the leases.
_MIRRORS = re.compile(r"/\.lakekeeper[^/]*/(log(/|\Z)|lease-)")


def state_digest(sim: SimulatedCluster, mirrors: bool = True) -> str:
    """Numbers each such token by where it first appears; files keep their times, for manifests quote them.

    Without `mirrors` clusters are one that differ in their commit logs and leases only.
    """
    numbers: dict[tuple[str, str], int] = {}

    def rename(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "iso":
            return "<time>"
        return f"<{kind}{numbers.setdefault((kind, match[kind]), len(numbers))}>"

    return hashlib.blake2b(_TOKEN.sub(rename, _text(sim, mirrors)).encode(), digest_size=16).hexdigest()


def _text(sim: SimulatedCluster, mirrors: bool) -> str:
    lines = []
    for path, number, inode in sim.tree.walk(AUTHORITY):
        if not mirrors and _MIRRORS.search(path):
            continue
        about = f"{inode.mode} {inode.closed} {_content(inode)}"
        lines.append(f'{path} hdfs:{number} "mtime": {0 if inode.is_dir else inode.mtime} {about}')
    ledger = (sorted(sim.ledger.committed), sorted(sim.ledger.overwritten))
    return "\n".join([*lines, sim.metastore.text(), str(ledger), str(sim.late.waiting)])


def _content(inode: Inode) -> str:
    """The commit log compresses what it keeps."""
    packed = inode.content.startswith(_GZIP)
    return (gzip.decompress(inode.content) if packed else inode.content).decode("latin-1")


def live(sim: SimulatedCluster, tables: list[str]) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """What lies at the tables' locations, file by file; homes of ours lie elsewhere."""
    return [
        (unit.location, [(name, inode.content) for name, inode in sim.tree.files(unit.location)])
        for table in tables
        for unit in sim.units(table)
    ]
