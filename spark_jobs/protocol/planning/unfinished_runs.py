"""The effect of unfinished runs on the plan of a table. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import runs as remedies
from spark_jobs.core.messages.remedies.partitions import of_copy
from spark_jobs.core.records import journal
from spark_jobs.core.values.model import Unit
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.runs.journal_store import Run


def unfinished_warning(run: Run) -> str:
    return (
        f"run {run.run_id} is unfinished: it is active now, or it was interrupted, and the next compaction, rollback or"
        " cleanup of this table recovers it"
    )


def interrupted(runs: Sequence[Run], unit: Unit) -> str | None:
    """Return why the unit has to be recovered, although it looks healthy or is missing; or None."""
    for run in runs:
        state = run.state.units.get(unit.key)
        if state is not None and state.kind in journal.INTENTS:
            return f"run {run.run_id} was interrupted during the swap of this unit; the next compaction recovers it"
    return None


def unregistered(runs: Sequence[Run], units: Collection[Unit]) -> list[Unit]:
    """Return the units that have to be recovered although the metastore does not have them any more.

    Partition discovery drops a partition whose directory is away between two renames. Nothing else is flagged then, and
    no compaction would be started that puts the directory back.
    """
    known = {unit.key for unit in units}
    swapped = (state.swap.unit for run in runs for state in run.state.of_kind(*journal.INTENTS))
    return [unit for unit in dict.fromkeys(swapped) if unit.key not in known]


def in_use(runs: Sequence[Run], location: str) -> Refusal | None:
    """Return the refusal of a unit on which a run of another table at this location has an open intent; or None.

    The run may be at work, or was interrupted after its renames. Files that writers have added to its originals since
    are moved to the live directory by its recovery, which would not recognize the directory of a newer compaction.
    """
    for run in runs:
        # guard: intent_of_another_table
        if any(state.swap.live == location for state in run.state.of_kind(*journal.INTENTS)):
            return Refusal(
                RefusalCode.ACTIVE_WRITER,
                f"run {run.run_id} of {run.state.table}, which has the same location, has not ended; if it was"
                f" interrupted, {remedies.recovery(run.state.table)} recovers it",
            )
    return None


def taken_away(fs: FileSystem, runs: Sequence[Run], location: str) -> str | None:
    """Return the reason for a unit whose directory a run of another table at this location has moved; or None.

    Only a job of the other table recovers that run.
    """
    for run in runs:
        for state in run.state.of_kind(*journal.INTENTS):
            if state.swap.live == location and fs.status(location) is None:
                return (
                    f"{location} is missing: run {run.run_id} of {run.state.table}, which has the same location, was"
                    f" interrupted during its swap; {remedies.recovery(run.state.table)} recovers it"
                )
    return None


def missing(fs: FileSystem, location: str, old: str) -> str | None:
    """Return the reason for a unit that was copied between the renames of a swap; or None.

    Its live directory is missing, and its rows are in the copied originals, which no reader finds.
    """
    # guard: missing_in_a_copy
    if fs.status(location) is not None or fs.status(old) is None:
        return None
    return of_copy(location, old)
