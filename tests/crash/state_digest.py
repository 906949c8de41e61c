"""One name for clusters that differ in times and in random ids only: from each of them the jobs do the same."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from tests.crash.model_tree import AUTHORITY
from tests.crash.simulated_cluster import SimulatedCluster

_GZIP = b"\x1f\x8b"
#: All that the jobs compare for equality only: inode ids, times of files, run attempts, stamps, process names.
_TOKEN = re.compile(
    r'(?:hdfs:|"file_id": )(?P<inode>\d+)'
    r'|"mtime": (?P<mtime>\d+)'
    r'|"seconds": (?P<seconds>[0-9.e-]+)'
    r"|(?P<iso>20\d\d-\d\d-\d\dT[0-9:.+Z]+)"
    r"|(?P<hex>[0-9a-f]{32}|[0-9a-f]{12}(?![0-9a-f])|(?<=lk)[0-9a-f]{8})"
    r"|(?P<stamp>(?<=__originals_)\d{10}|(?<=__compact_tmp_)\d{10}|(?<=__aside_)\d{10}|(?<=__conflict_)\d{10}|20\d{6}_\d{6})"
    r"|(?P<process>(?<=-p)\d+(?=-c000))"
)


#: What only mirrors the journals, or says who worked last: the commit log, and the leases.
_MIRRORS = re.compile(r"/\.lakekeeper[^/]*/(log(/|\Z)|lease-)")


def state_digest(sim: SimulatedCluster, mirrors: bool = True) -> str:
    """Numbers each such token by where it first appears; files keep their times, for manifests quote them.

    Without `mirrors` clusters are one that differ in their commit logs and leases only.
    """
    numbers: dict[tuple[str, str], int] = {}
    seen = hashlib.blake2b(digest_size=16)
    for parts in _texts(sim, mirrors):
        for literal, kind, token in parts:
            seen.update(literal)
            if kind:
                number = numbers.setdefault((kind, token), len(numbers))
                seen.update(f"<{kind}{number}>".encode())
        seen.update(b"\n")
    return seen.hexdigest()


#: What lies between two tokens; a token's kind and text, empty at the end.
Parts = tuple[tuple[bytes, str, str], ...]


def _texts(sim: SimulatedCluster, mirrors: bool) -> Iterator[Parts]:
    for path, number, inode in sim.tree.walk(AUTHORITY):
        if not mirrors and _MIRRORS.search(path):
            continue
        mtime = 0 if inode.is_dir else inode.mtime
        yield _split(f'{path} hdfs:{number} "mtime": {mtime} {inode.mode} {inode.closed}')
        yield _content(inode.content)
    ledger = (sorted(sim.ledger.committed), sorted(sim.ledger.overwritten))
    for text in (sim.metastore.text(), str(ledger), str(sim.late.waiting)):
        yield _split(text)


@lru_cache(maxsize=1 << 16)
def _content(content: bytes) -> Parts:
    """The commit log compresses what it keeps."""
    unpacked = gzip.decompress(content) if content.startswith(_GZIP) else content
    return _split(unpacked.decode("latin-1"))


@lru_cache(maxsize=1 << 16)
def _split(text: str) -> Parts:
    """From one state to the next nearly all texts stay what they were: each is searched once."""
    parts, start = [], 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        token = "" if kind in ("iso", "seconds") else match[kind]
        parts.append((text[start : match.start()].encode(), kind, token))
        start = match.end()
    return (*parts, (text[start:].encode(), "", ""))


def live(sim: SimulatedCluster, tables: list[str]) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """What lies at the tables' locations, file by file; homes of ours lie elsewhere."""
    return [
        (unit.location, [(name, inode.content) for name, inode in sim.tree.files(unit.location)])
        for table in tables
        for unit in sim.units(table)
    ]
