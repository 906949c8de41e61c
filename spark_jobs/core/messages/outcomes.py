"""The outcomes of units, tables and jobs in reports, with their meanings and remedies.

The values are part of the wire. The tables in docs/wire.md are generated from these enums.
"""

from __future__ import annotations

from enum import Enum

_NOTHING = "Nothing."


class _Outcome(str, Enum):
    """An outcome. It is written, compared and formatted as its value, which is a word of the wire."""

    meaning: str
    remedy: str

    def __new__(cls, word: str, meaning: str, remedy: str = _NOTHING) -> _Outcome:
        member = str.__new__(cls, word)
        member._value_, member.meaning, member.remedy = word, meaning, remedy
        return member

    def __str__(self) -> str:
        return str(self.value)


class UnitOutcome(_Outcome):
    """The outcome of a unit: a partition, or a table without partitions."""

    FLAGGED = (
        "flagged",
        "It needs a compaction, or an unfinished run has to be recovered; in the dry run of a rollback or a cleanup:"
        " its originals would be restored or deleted, or what a job has left open would be finished first.",
        "Compact it.",
    )
    HEALTHY = (
        "healthy",
        "It needs no compaction; `reason` says why, if its files are small: they cannot be fewer, or it is not due.",
    )
    COMPACTED = ("compacted", "It was rewritten, verified and swapped; the originals are kept.")
    RESTORED = ("restored", "Its originals are back.")
    CLEANED = ("cleaned", "Its originals were deleted.")
    FORGOTTEN = (
        "forgotten",
        "The run does not keep its originals any more; what is left of them was not deleted.",
        "Delete the directory that `reason` names when nobody needs it.",
    )
    SKIPPED = ("skipped", "It was refused; `code` and `reason` say why.", "See its code.")
    GONE = (
        "gone",
        "It was named, and the table has no such partition; `code` is `PARTITION_NOT_FOUND`.",
        "Correct the name; if its load is late, the next run takes it.",
    )
    CHANGED = (
        "changed",
        "A writer was active in it: nothing was swapped; or it was swapped, and the writer has replaced or removed the"
        " rewritten directory since: then `reason` says so, the writer's directory is the table, and the run keeps the"
        " originals.",
        "The next run takes it.",
    )
    DEFERRED = (
        "deferred",
        "It was left to the next run; nothing was swapped. `reason` names the deadline or the limit.",
        "The next run takes it first. Widen the window, raise the limit, or raise `parallelism`.",
    )
    QUARANTINED = (
        "quarantined",
        "Its directories are in a state that no rule covers; nothing was changed.",
        "A person must look at the paths in `reason`.",
    )
    FAILED = (
        "failed",
        "An error occurred; what was written is deleted, or the next run recovers it.",
        "Run the job again.",
    )


class TableOutcome(_Outcome):
    """The outcome of a table."""

    DONE = ("done", "At least one unit was processed, and none failed.")
    NOTHING = ("nothing", "There was nothing to do.")
    REFUSED = ("refused", "The whole table was left alone; `code` and `reason` say why.", "See its code.")
    BUSY = ("busy", "Another job is working on the table.", "Run the job again later.")
    PARTIAL = (
        "partial",
        "Some units were processed, and some failed; or a rollback could not restore units whose originals were"
        " deleted.",
        "Run the job again; after a rollback with `ORIGINALS_DELETED` there is nothing left to do.",
    )
    FAILED = ("failed", "No unit was processed, and at least one failed.", "Run the job again.")
    DAMAGED = (
        "damaged",
        "A check has found damage; nothing was changed.",
        "Look at `findings`: each one names the command that ends it.",
    )


class CheckOutcome(_Outcome):
    """The outcome of one check of the verb `doctor`."""

    GOOD = ("good", "It is as the jobs need it.")
    ADVICE = ("advice", "The jobs run as it is; something is better done otherwise.", "See its action.")
    BAD = ("bad", "Jobs fail, or will fail.", "See its action.")
    NOT_ASKED = (
        "not-asked",
        "The check can be made elsewhere only, or needs what an earlier one has not found: it counts neither as good"
        " nor as bad.",
    )


class JobOutcome(_Outcome):
    """The outcome of a job, and its exit code: the most serious one of its tables' outcomes."""

    exit_code: int

    def __new__(cls, word: str, exit_code: int, meaning: str) -> JobOutcome:
        member = str.__new__(cls, word)
        member._value_, member.exit_code, member.meaning, member.remedy = word, exit_code, meaning, _NOTHING
        return member

    DONE = ("done", 0, "All work succeeded.")
    NOTHING = ("nothing", 0, "There was nothing to do.")
    PARTIAL = (
        "partial",
        1,
        "Some tables were processed, and some failed, were busy or damaged, or were refused although they were named.",
    )
    FAILED = (
        "failed",
        1,
        "No table was processed, and at least one failed, was busy or damaged, or was refused although it was named; or"
        " Spark did not start; or a check of `doctor` is bad.",
    )
    USAGE = ("usage", 2, "The command line, the request or the configuration is wrong; nothing was changed.")
    UNSAFE = ("unsafe", 3, "A unit is quarantined, or a journal cannot be read; a person must look at it.")


#: The outcome in the journal of a run that `on_failure: undo` has rolled back. Reports do not have it.
UNDONE = "undone"
