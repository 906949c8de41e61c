"""The format of a home: the file `format-<version>` in it says which version's records it holds.

A version of another format finds no record there that it can act on. So it must refuse the home, and never take it for
an empty one: its originals may be the only rows of a unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from spark_jobs import __version__
from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.core.values.layout import LOG, RECORDS, SETTLED, LeaseFile, RunDirectory
from spark_jobs.protocol.file_system import RecordFiles, Status

#: The version that has defined the format of all that the jobs write into a home.
FORMAT = "0.2"
_PREFIX = "format-"
MARKER = f"{_PREFIX}{FORMAT}"
_VERSION = re.compile(rf"{_PREFIX}([0-9A-Za-z.]{{1,20}})\Z")
_ABOUT = "The journals of Lakekeeper, and the originals of the tables that it has compacted. Do not change anything."


def check_format(fs: RecordFiles, home: str, entries: Sequence[Status]) -> None:
    """Raise OtherVersion for a home whose records have another format.

    A home without a marker and without any lease or record is nobody's: a job died right after it made the directory,
    or a late task has made it again after its home was deleted.

    Args:
        entries: all its entries.
    """
    markers = sorted(entry.name for entry in entries if entry.name.startswith(_PREFIX))
    if markers == [MARKER]:
        return
    others = [name for name in markers if name != MARKER]
    if others or any(_is_record(fs, entry) for entry in entries):  # guard: format_of_home
        raise OtherVersion(home, _written_by(others), f"homes of format {FORMAT}")


def _written_by(markers: Sequence[str]) -> str:
    if not markers:
        return "version 0.1, or its file format-... was deleted"
    version = _VERSION.match(markers[-1])
    return f"version {version[1]}" if version else "an unknown version"


def _is_record(fs: RecordFiles, entry: Status) -> bool:
    """Tell whether an entry is a lease, settled runs, a commit log with a file, or a run with a journal."""
    if LeaseFile.parse(entry.name) or entry.name == SETTLED:
        return True
    if entry.name == LOG:
        return first_file(fs, entry) is not None
    try:
        return RunDirectory.parse(entry.name) is not None and bool(fs.list(f"{entry.path}/{RECORDS}"))
    except FileNotFoundError:
        return False


def create_home(fs: RecordFiles, home: str) -> None:
    """Create a home, unless it exists with its marker.

    Raises:
        OtherVersion: it is there, and its records have another format.
        OSError: a call of the file system failed.
    """
    try:
        entries = fs.list(home)
    except FileNotFoundError:
        fs.mkdirs(home)
        entries = []
    check_format(fs, home, entries)
    if any(entry.name == MARKER for entry in entries):
        return
    content = {"format": FORMAT, "version": __version__, "about": _ABOUT}
    try:
        fs.create(f"{home}/{MARKER}", json.dumps(content).encode())
    except OSError:
        if fs.status(f"{home}/{MARKER}") is None:
            raise
        # The answer was lost, or another job has made it just now.
    check_format(fs, home, fs.list(home))  # another version may have made a home of it meanwhile


def first_file(fs: RecordFiles, entry: Status) -> str | None:
    """Return the path of a file at or below an entry; None if there is none."""
    if not entry.is_dir:
        return entry.path
    return next((path for path in (first_file(fs, inner) for inner in fs.list(entry.path)) if path), None)
