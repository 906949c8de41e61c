"""The statistics that the metastore had of a unit before a run changed them, so that a rollback puts them back.

They decide nothing about files or rows. So what a record has of another form is left out, and then is not put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.values.model import FileEntry
from spark_jobs.core.values.other_writers import is_hidden
from spark_jobs.core.values.parameters import Values

_FILES, _BYTES = "numFiles", "totalSize"
#: What the option `file_stats` sets.
FILE_STATISTICS = (_FILES, _BYTES)
_ACCURATE = "COLUMN_STATS_ACCURATE"
#: What ANALYZE TABLE changes: Hive's, and Spark's own.
ALL_STATISTICS = (
    *FILE_STATISTICS,
    *("rawDataSize", "numRows", "numFilesErasureCoded", _ACCURATE),
    *("spark.sql.statistics.totalSize", "spark.sql.statistics.numRows"),
)
#: The metastore fails for a partition whose figures are no numbers.
_NUMBER = re.compile(r"-?\d{1,19}\Z", re.ASCII)
#: The text of `COLUMN_STATS_ACCURATE` names columns. A record has those of 300 units, and can be read again:
#: `record_files` bounds its bytes, and counts each comma as a value.
_MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class KeptStatistics:
    """The statistics of one unit.

    Attributes:
        before: their values before the run changed the first of them.
        after: the values that the run has given them; None if it did not come to know them.
    """

    before: Values
    after: Values | None = None

    @classmethod
    def of(cls, before: Values, after: Values | None) -> KeptStatistics:
        """Keep values, as far as a record takes them: who may alter a table can set any text of any length."""
        return cls(
            _values(before), None if after is None else _values(after)
        )  # guard: kept_values_are_bounded

    def with_change(self, before: Values, after: Values | None) -> KeptStatistics:
        """Return this with one more change of the same run. What was there before the first one stays."""
        known = None if after is None else {**(self.after or {}), **after}
        return KeptStatistics.of({**before, **self.before}, known)

    def to_put_back(self, now: Values, compacted: Values) -> Values | None:
        """Return the values to write, none if they are there; None if the values now are those of somebody else.

        Args:
            now: the values of all parameters that a run may change.
            compacted: the figures of the files that the run has written. The metastore counts them by itself when
                ANALYZE TABLE writes, which may have happened although `after` is not known.
        """
        if _within(self.before, now):
            return {}
        own = self._maybe_own(now, compacted) if self.after is None else _within(self.after, now)
        return self.before if own else None  # guard: own_statistics_put_back

    def _maybe_own(self, now: Values, compacted: Values) -> bool:
        figures = {name: now.get(name) for name in FILE_STATISTICS}
        return any(_within(figures, known) for known in (self.before, compacted))

    def to_json(self) -> dict[str, Any]:
        return {"before": self.before, "after": self.after}

    @classmethod
    def from_json(cls, body: object) -> KeptStatistics | None:
        """Decode what a record has of a unit; None if nothing is to be put back."""
        if not isinstance(body, Mapping):
            return None
        before, after = _values(body.get("before")), _values(body.get("after"))
        return cls(before, after or None) if before else None


def figures_of(files: Iterable[FileEntry]) -> dict[str, str | None]:
    """Return the figures of these files as the metastore counts them: visible ones, also empty ones and flags."""
    lengths = [file.length for file in files if not is_hidden(file.name)]
    return {_FILES: str(len(lengths)), _BYTES: str(sum(lengths))}


def _within(some: Values, others: Values) -> bool:
    return all(name in others and others[name] == value for name, value in some.items())


def _values(body: object) -> dict[str, str | None]:
    known = body if isinstance(body, Mapping) else {}
    return {name: known[name] for name in ALL_STATISTICS if name in known and _is_valid(name, known[name])}


def _is_valid(name: str, value: object) -> bool:
    if not isinstance(value, str):
        return value is None
    return len(value) <= _MOST_CHARACTERS if name == _ACCURATE else bool(_NUMBER.match(value))
