"""What a lease file says of its owner. It is only shown, and tells a job its own file after a lost answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_jobs.core.record_files import DECODING_ERRORS, check_length, parsed
from spark_jobs.protocol.file_system import RecordFiles

#: The largest lease file that is read. The jobs write some hundred bytes.
_MOST_BYTES = 1 << 16


def read_content(fs: RecordFiles, path: str, length: int | None = None) -> Mapping[str, Any]:
    """Return what a lease file says; nothing if it cannot be read, or is none of the jobs. No error is raised.

    Args:
        length: its size in bytes, if it is known.
    """
    try:
        if length is None:
            status = fs.status(path)
            length = status.length if status else 0
        check_length(length, _MOST_BYTES)
        found = parsed(fs.read(path))
    except (OSError, *DECODING_ERRORS):
        return {}
    return found if isinstance(found, dict) else {}
