"""The port of table formats that keep lists of their own files, such as Apache Iceberg.

Such a table is compacted, rolled back and expired by procedures of its format. The adapters call them; what is done,
and whether it may be done, is decided in `protocol/native`, which knows no format by name. All methods raise
LakekeeperError where a statement fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Spec


@dataclass(frozen=True)
class DataFile:
    """A data file of a table, as the format's own metadata has it.

    Attributes:
        unit: the values of the partition that can be compacted by itself; empty if only the whole table can.
        group: within the unit, the files that can become one: those of a bucket, or of a partition.
        length: in bytes.
        written: when it was added, in ms since the epoch; 0 if that is not known any more.
    """

    unit: Spec
    group: str
    path: str
    length: int
    written: int


@dataclass(frozen=True)
class Commit:
    """A commit of the table's present state.

    Attributes:
        rewrites: it only writes the same rows into other files.
    """

    id: str
    at: datetime
    rewrites: bool


@dataclass(frozen=True)
class UnitFiles:
    """A unit to compact, with the sizes of its files in bytes."""

    unit: Spec
    lengths: tuple[int, ...]


class NativeTable(Protocol):
    """One table of such a format."""

    def location(self) -> str:
        """Return the URI of its directory, as the format has it."""

    def property(self, name: str) -> str | None:
        """Return the value of a property of the table; the format may keep it from the metastore."""

    def target_file_size(self) -> int:
        """Return the size that the table asks its files to have, in bytes."""

    def unsupported(self) -> str | None:
        """Return the feature with which the procedures would do more than to write the same rows into fewer files."""

    def no_rollback(self) -> str | None:
        """Return why a compaction cannot be rolled back safely; None if it can. Then no commit gets a name."""

    def keys(self) -> Mapping[str, str]:
        """Return the Hive types of the keys of its units, in their order; empty if the whole table is one unit."""

    def files(self, commit: str | None = None) -> Sequence[DataFile]:
        """Return the data files, now or of a commit."""

    def commits(self) -> Sequence[Commit]:
        """Return the commits that have led to the present state, oldest first, as far back as all of them are kept."""

    def tags(self) -> Mapping[str, str]:
        """Return the commits that have a name, by their names. The format keeps the files of these commits."""

    def tag(self, name: str, commit: str) -> None:
        """Give a commit a name. A name that another commit has is moved to this one."""

    def untag(self, name: str) -> None: ...
    def compact(self, units: Sequence[UnitFiles], target: int) -> None:
        """Compact some units by the format's own procedure; the whole table if its unit has no keys.

        Args:
            target: the size of the files to write, in bytes.

        Raises:
            UnitChanged: another writer has changed the files meanwhile.
        """

    def roll_back(self, commit: str, present: str) -> None:
        """Make an earlier commit the present state again.

        Raises:
            UnitChanged: the present state is not `present` any more. Nothing was changed.
        """

    def retention(self) -> timedelta | None:
        """Return for how long the table itself asks to keep its commits; None if it does not."""

    def no_expiry(self) -> str | None:
        """Return why the table's files must not be deleted with its commits; None if they may."""

    def expire(self, before: datetime) -> None:
        """Delete what only older commits need that have no name."""


class NativeFormat(Protocol):
    """A format."""

    @property
    def name(self) -> str:
        """Return the name, in lower case, as the option `native_formats` has it."""

    def lacks(self) -> str | None:
        """Return the settings that the session lacks to work on such tables; None if it has all of them."""

    def table(self, facts: TableFacts) -> NativeTable:
        """Return a table.

        Raises:
            Refusal: NO_CATALOG, no catalog of the session has the table at this location.
        """
