"""The errors that users see. Each message is one line, with the wrong value and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spark_jobs import __version__
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import hdfs

if TYPE_CHECKING:
    from spark_jobs.core.records.held import Held


class LakekeeperError(Exception):
    """The base class of all errors that the jobs raise themselves."""

    def __str__(self) -> str:
        return printable(super().__str__())  # guard: errors_are_lines


class UsageError(LakekeeperError, ValueError):
    """The command line, the request, the configuration or an argument is wrong. Nothing was changed (exit code 2)."""


class Refusal(LakekeeperError):
    """A table or unit must not be compacted.

    Attributes:
        code: a stable name.
        reason: one sentence for a person.
        command: the command in it that ends the state; None if there is none.
        of_planned_files: it is about the files that were planned, and not about others that have come since.
        held: of a table that is refused, the originals that it keeps, if they are known.
    """

    def __init__(self, code: RefusalCode, reason: str, command: str | None = None) -> None:
        super().__init__(f"{code.name}: {reason}")
        self.of_planned_files = True
        self.held: Held | None = None
        self.code = code.name
        self.reason = reason
        self.command = command


class Unreadable(Refusal):
    """The content of a file is not what its format requires: it is damaged, cut off, or a file of another format.

    Attributes:
        path: the URI of the file.
        what: what is wrong with it.
    """

    def __init__(self, path: str, what: str) -> None:
        name, command = path.rpartition("/")[2], hdfs.move_away(path)
        super().__init__(
            RefusalCode.UNREADABLE,
            f"{name} cannot be read: {what}. Write it again, or move it away: {command}. Or give it a name that begins"
            " with _ or ., so that no reader takes it for data",
            command,
        )
        self.path = path
        self.what = what


class WrongStatistics(Refusal):
    """The figures of a column in the footers of the originals differ from the values that are read.

    Args:
        difference: a clause that names the column and both figures.
        as_read: the values that were written are those that are read of the originals; None if nobody can tell.
    """

    def __init__(self, difference: str, as_read: bool | None) -> None:
        why = (
            ", whose values are those that are read of the originals: a value is damaged, the statistics are wrong, or"
            " this Spark reads the values otherwise than they were written. Compare the column as another engine reads"
            " it; if the values are right, set lakekeeper.verify=hash on the table, which compares them instead"
            if as_read
            else ", and Spark cannot read the values to tell which are right. Write the files again"
        )
        super().__init__(RefusalCode.WRONG_STATISTICS, f"{difference}{why}")


class OtherVersion(Refusal):
    """Another version of Lakekeeper has written what lies there. Nothing there is changed, or taken for nothing.

    Args:
        path: the URI of a home, or of a file in it.
        written_by: the version that has written it, as it says itself.
        readable: what this version reads instead.
    """

    def __init__(self, path: str, written_by: str, readable: str) -> None:
        super().__init__(
            RefusalCode.OTHER_VERSION,
            f"{path} was written by {written_by}; this version {__version__} reads only {readable}. Nothing is changed"
            " there: use that version, or clean up with it first",
        )


class UnitChanged(LakekeeperError):
    """The unit, or what was written for it, is not as it was planned. Nothing was swapped, or the swap was undone.

    A writer, an administrator or a late task of this job has changed it.
    """


class VerificationFailed(LakekeeperError):
    """The data that was written differs from the data that was read. Nothing was swapped."""


class FiguresDiffer(VerificationFailed):
    """The figures of a column in the footers of written files differ from the originals'.

    Attributes:
        difference: a clause that names the column and both figures.
        read_again: reads all values once more, and tells whether written files and originals have the same;
            it returns None if Spark cannot read them.
    """

    def __init__(self, difference: str, read_again: Callable[[], bool | None] = lambda: False) -> None:
        super().__init__(f"{difference}; nothing was swapped")
        self.difference = difference
        self.read_again = read_again


class Unsafe(LakekeeperError):
    """No rule covers the state on the file system. Nothing more is changed (exit code 3)."""


class UnreadableRun(Unsafe):
    """The journal of a run cannot be read, or names what it must not.

    Attributes:
        directory: the URI of the run's directory.
    """

    def __init__(self, message: str, directory: str) -> None:
        super().__init__(message)
        self.directory = directory


class DamagedOriginals(Unsafe):
    """Originals are missing, or are not those that the journal lists. The verb `forget` ends this."""


class OnlyCopy(Unsafe):
    """The originals are the only copy of data that the table should hold. A rollback restores them.

    Attributes:
        place: the location that the metastore has.
        in_the_way: the same, if it exists: it must be moved away before a rollback.
        statement: the statement that gives the unit its journaled location back, where it has another one. A rollback
            needs it, and nothing has to be moved away then.
    """

    def __init__(
        self, message: str, place: str, *, missing: bool = False, statement: str | None = None
    ) -> None:
        super().__init__(message)
        self.place = place
        self.in_the_way = None if missing else place
        self.statement = statement


class NoRule(Unsafe):
    """The directories of a swap are in a state that no rule covers. The verb `forget` ends this."""


class OutOfPlace(LakekeeperError):
    """Something that this project has not made is in the place of a file or directory of the journals.

    Attributes:
        command: what moves it away. Nothing else is in it that a job needs.
    """

    def __init__(self, path: str, what: str) -> None:
        self.command = hdfs.move_away(path)
        super().__init__(f"{path} is {what}; nothing is changed. Move it away: {self.command}")


class WriterActive(LakekeeperError):
    """A writer is active in a directory of an open swap. The intent stays open; a later run resolves it."""


class LeaseLost(LakekeeperError):
    """Another job has, or has just had, a lease that this job needs. Nothing more is changed."""


class SparkNotStarted(LakekeeperError):
    """Spark does not start. Nothing was done."""


class Busy(LakekeeperError):
    """Another job works on the table. Try again later."""


#: How the text of an error of Java begins. Java's own words are in the next line, and its stack in hundreds more.
_PY4J = "An error occurred while calling"


def in_one_line(error: Exception) -> str:
    """Return the class and the message of an unexpected error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    text = lines[1].lstrip(": ") if lines[0].startswith(_PY4J) and len(lines) > 1 else lines[0]
    return f"{type(error).__name__}: {text}"
