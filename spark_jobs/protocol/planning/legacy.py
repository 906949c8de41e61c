"""Originals that Lakekeeper 0.0.6 keeps beside the data: only its own rollback and cleanup know how to end them."""

from __future__ import annotations

from collections.abc import Iterable

from spark_jobs.core.layout import is_legacy_original_of
from spark_jobs.core.model import Unit, parent
from spark_jobs.protocol.file_system import DataDirectories

#: So many directories are listed. One has the partitions of most tables.
_MOST = 100


def kept_by_lakekeeper_0_0_6(fs: DataDirectories, units: Iterable[Unit]) -> str | None:
    """Return a sentence about originals of these units that Lakekeeper 0.0.6 keeps; None if there are none."""
    locations = {unit.location for unit in units}
    for folder in list(dict.fromkeys(map(parent, locations)))[:_MOST]:
        try:
            found = [entry.path for entry in fs.list(folder) if entry.is_dir]
        except OSError:
            continue
        for path in found:
            if is_legacy_original_of(path, locations):
                return (
                    f"{path} holds originals of Lakekeeper 0.0.6, which its own rollback puts back and its own cleanup"
                    " deletes"
                )
    return None
