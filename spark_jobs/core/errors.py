"""Errors that a user sees: one line, the offending value, and the way out."""

from __future__ import annotations

from spark_jobs.core.refusals import RefusalCode


class LakekeeperError(Exception):
    """Base of all errors raised on purpose by the jobs."""


class UsageError(LakekeeperError):
    """The command line, the request or the configuration is wrong; nothing was touched (exit 2)."""


class Refusal(LakekeeperError):
    """A table or unit must not be compacted; `code` is stable, `reason` one sentence for a person."""

    def __init__(self, code: RefusalCode, reason: str) -> None:
        super().__init__(f"{code.name}: {reason}")
        self.code = code.name
        self.reason = reason


class UnitChanged(LakekeeperError):
    """A writer was active in the unit; nothing was swapped, or the swap was undone."""


class Deferred(LakekeeperError):
    """The deadline would be passed; the unit comes first the next time."""


class VerificationFailed(LakekeeperError):
    """What was written is not what was read; nothing was swapped."""


class Unsafe(LakekeeperError):
    """The state on the file system is one that no rule covers: nothing more is changed (exit 3)."""


class Held(LakekeeperError):
    """A writer, or another job, is at work right now; nothing is changed until it has ended, and nothing is lost."""


class Busy(LakekeeperError):
    """Another job works on the table; try again later."""
