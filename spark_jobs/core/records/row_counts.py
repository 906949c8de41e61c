"""The rows of each unit of which the commit log has seen a change, each as of its last one.

They are a file of their own, which only the next snapshot needs: with a million units it is larger than all else in the
log, and a reader of the log does not decode it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.core.records.snapshots import Snapshot, UnitChange, readable

Rows = Mapping[str, int]


@dataclass(frozen=True)
class RowCounts:
    """The rows of all these units before a change and after it, as far as they are known.

    Attributes:
        units: the number of these units after it.
        file: the name of the file that has the rows of each one after it.
    """

    before: int | None
    after: int | None
    units: int | None
    file: str | None

    @classmethod
    def unchanged(cls, last: Snapshot) -> RowCounts:
        """Return the row counts of a change that no reader sees."""
        return cls(last.total_rows, last.total_rows, last.total_row_units, last.row_counts)


def still_counted(rows: Rows, units: Collection[str]) -> dict[str, int]:
    """Return the rows of the units that the table has; of all if these are not known."""
    return {unit: count for unit, count in rows.items() if not units or unit in units}


def counted_rows(before: Rows, units: Iterable[UnitChange]) -> dict[str, int]:
    """Return the rows of each unit after a compaction or a rollback."""
    return {**before, **{unit.unit: unit.rows for unit in units}}


def encode(rows: Rows) -> bytes:
    """Return the content of a file."""
    return packed({"rows": dict(rows)})


def decode(data: bytes, name: str) -> dict[str, int]:
    """Decode the content of a file. Raise BrokenLog if it is incomplete, and OtherVersion."""
    return readable(
        name, lambda: {str(key): int(count) for key, count in unpacked(data, name)["rows"].items()}
    )
