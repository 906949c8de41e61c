"""What becomes of a unit, a table and a job, as reports say it: every outcome, with its meaning and what to do.

The words are part of the wire. The tables of docs/wire.md are generated from these enums.
"""

from __future__ import annotations

from enum import Enum

_NOTHING = "Nothing."


class _Outcome(str, Enum):
    """A word of the wire; it is written, compared and formatted as that word."""

    meaning: str
    remedy: str

    def __new__(cls, word: str, meaning: str, remedy: str = _NOTHING) -> _Outcome:
        member = str.__new__(cls, word)
        member._value_, member.meaning, member.remedy = word, meaning, remedy
        return member

    def __str__(self) -> str:
        return str(self.value)


class UnitOutcome(_Outcome):
    """What became of a partition, or of a table without partitions."""

    FLAGGED = (
        "flagged",
        "It needs a compaction, or an unfinished run has to be recovered; in a cleanup's dry run: its originals"
        " would be deleted.",
        "Compact it.",
    )
    HEALTHY = ("healthy", "It does not need a compaction.")
    COMPACTED = ("compacted", "It was rewritten, verified and swapped; the originals are kept.")
    RESTORED = ("restored", "Its originals are back.")
    CLEANED = ("cleaned", "Its originals were deleted.")
    SKIPPED = (
        "skipped",
        "It was refused; `code` and `reason` say why.",
        "See the codes in troubleshooting.md.",
    )
    CHANGED = ("changed", "A writer was at work in it; nothing was swapped.", "The next run takes it.")
    DEFERRED = (
        "deferred",
        "The deadline has passed; nothing was swapped.",
        "The next run takes it first. Widen the window, or raise `parallelism`.",
    )
    QUARANTINED = (
        "quarantined",
        "Its directories are in a state that no rule covers; nothing was changed.",
        "A person must look at the paths in `reason`.",
    )
    FAILED = (
        "failed",
        "An error; what was written is deleted, or the next run recovers it.",
        "Run the job again.",
    )


class TableOutcome(_Outcome):
    """What became of a table."""

    DONE = ("done", "At least one unit was worked on, and none failed.")
    NOTHING = ("nothing", "There was nothing to do.")
    REFUSED = (
        "refused",
        "It was left alone as a whole; `code` and `reason` say why.",
        "See the codes in troubleshooting.md.",
    )
    BUSY = ("busy", "Another job works on the table.", "Run the job again later.")
    PARTIAL = ("partial", "Some units were worked on, and some failed.", "Run the job again.")
    FAILED = ("failed", "No unit was worked on, and one or all failed.", "Run the job again.")


class JobOutcome(_Outcome):
    """What became of a job, and its exit code: the gravest of its tables' outcomes."""

    exit_code: int

    def __new__(cls, word: str, exit_code: int, meaning: str) -> JobOutcome:
        member = str.__new__(cls, word)
        member._value_, member.exit_code, member.meaning, member.remedy = word, exit_code, meaning, _NOTHING
        return member

    DONE = ("done", 0, "All went well.")
    NOTHING = ("nothing", 0, "There was nothing to do.")
    PARTIAL = (
        "partial",
        1,
        "Some tables were worked on, and some failed, were busy, or were refused though named.",
    )
    FAILED = (
        "failed",
        1,
        "No table was worked on, and one or all failed, were busy, or were refused though named.",
    )
    USAGE = ("usage", 2, "The command line, the request or the configuration is wrong; nothing was touched.")
    UNSAFE = ("unsafe", 3, "A unit is quarantined, or a journal cannot be read; a person must look at it.")


#: A journal's word for a run whose units `on_failure: undo` put back; no table of a report has it.
UNDONE = "undone"
