"""A unit's directory as the jobs accept it: plain, closed files and nothing else."""

from __future__ import annotations

from spark_jobs.core.errors import Refusal
from spark_jobs.core.layout import is_staging
from spark_jobs.core.model import Manifest
from spark_jobs.shell.ports import FileSystem


def list_unit(fs: FileSystem, location: str) -> Manifest:
    """The files of a unit; raises Refusal for anything that is not a plain directory of closed files."""
    entries = fs.list(location)
    for entry in entries:
        if is_staging(entry.name):
            raise Refusal("ACTIVE_WRITER", f"{entry.path} belongs to a writer that has not finished")
        if entry.is_dir:
            raise Refusal(
                "SUBDIRECTORIES",
                f"{location} holds the folder {entry.name}; its rows would be lost or misread",
            )
    return Manifest.of(entry.entry() for entry in entries)
