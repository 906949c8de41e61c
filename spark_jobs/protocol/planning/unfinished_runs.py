"""What runs that have not ended mean for the units of a table, for a look that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core import journal
from spark_jobs.core.model import Unit
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Run


def unfinished_warning(run: Run) -> str:
    return (
        f"run {run.run_id} has not ended: it is at work right now, or was interrupted; then the next compaction,"
        " rollback or cleanup of this table settles it"
    )


def interrupted(runs: Sequence[Run], unit: Unit) -> str | None:
    """Why a unit that looks healthy, or is missing, is not: a run holds its originals, or is about to."""
    for run in runs:
        state = run.state.units.get(unit.key)
        if state is not None and state.kind in journal.INTENTS:
            return f"run {run.run_id} was interrupted while it worked here; the next compaction settles it"
    return None


def missing(fs: FileSystem, location: str, old: str) -> str | None:
    """Why a unit is not there that was copied between the renames of a swap: the copy has its rows, and no reader sees
    them. None where it is there, or its originals are not."""
    # guard: missing_in_a_copy
    if fs.status(location) is not None or fs.status(old) is None:
        return None
    return (
        f"{location} is missing, and {old}, which came here with a copy, has its files: if they are what should be"
        f" there, hdfs dfs -mv '{old}' '{location}'"
    )
