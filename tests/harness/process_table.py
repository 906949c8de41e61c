"""Search the processes of this machine (Linux; elsewhere none is found)."""

from __future__ import annotations

from pathlib import Path


def processes_naming(folder: Path) -> list[str]:
    """Return the command lines that contain the path of the folder."""
    lines = (_command_line(entry) for entry in Path("/proc").glob("[0-9]*/cmdline"))
    return [line for line in lines if str(folder) in line]


def _command_line(entry: Path) -> str:
    try:
        return entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
