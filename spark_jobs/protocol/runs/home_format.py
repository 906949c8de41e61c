"""The format of a home: the file `format-<version>` in it says which version's records it holds.

A version of another format finds no record there that it can act on. So it must refuse the home, and never take it for
an empty one: its originals may be the only rows of a unit.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from spark_jobs import __version__
from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.protocol.file_system import RecordFiles

#: The version that has defined the format of all that the jobs write into a home.
FORMAT = "0.2"
_PREFIX = "format-"
MARKER = f"{_PREFIX}{FORMAT}"
_ABOUT = "The journals of Lakekeeper, and the originals of the tables that it has compacted. Do not change anything."


def check_format(home: str, names: Collection[str]) -> None:
    """Raise OtherVersion for a home whose records have another format.

    Args:
        names: the names of all its entries. A home without any was made just now, or a job died right after it made it.
    """
    markers = sorted(name for name in names if name.startswith(_PREFIX))
    if names and markers != [MARKER]:  # guard: format_of_home
        others = [name[len(_PREFIX) :] for name in markers if name != MARKER]
        written_by = f"version {others[-1]}" if others else "version 0.1, which left no file format-..."
        raise OtherVersion(home, written_by, f"homes of format {FORMAT}")


def create_home(fs: RecordFiles, home: str) -> None:
    """Create a home, unless it exists with its marker.

    Raises:
        OtherVersion: it is there, and its records have another format.
        OSError: a call of the file system failed.
    """
    try:
        names = [entry.name for entry in fs.list(home)]
    except FileNotFoundError:
        fs.mkdirs(home)
        names = []
    check_format(home, names)
    if names:
        return
    content = {"format": FORMAT, "version": __version__, "about": _ABOUT}
    try:
        fs.create(f"{home}/{MARKER}", json.dumps(content).encode())
    except FileExistsError:
        return  # another job has made it just now
