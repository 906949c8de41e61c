"""What the kernel knows of the connections of this machine (Linux; elsewhere it is not asked, and there are none)."""

from __future__ import annotations

from pathlib import Path

_LISTS = tuple(Path("/proc/net", name) for name in ("tcp", "tcp6"))
_CLOSE_WAIT = "08"


def rows() -> list[list[str]]:
    """The fields of each socket: [1] is its own address, [2] the other end's, [3] the state; all are hexadecimal."""
    return [row.split() for file in _LISTS if file.exists() for row in file.read_text().splitlines()[1:]]


def hung_up(port: int) -> bool:
    """Has anybody a connection to that port whose other end is gone, and does not know it yet?"""
    return any(row[3] == _CLOSE_WAIT and int(row[2].rpartition(":")[2], 16) == port for row in rows())
