"""The list of tables: which of them, in which order, and which page of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from lakekeeper_provider.page.figures import Row

PAGE_ROWS = 50
#: By the word in the address: what a column is sorted by. A value that is not known comes last.
COLUMNS: Mapping[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "files": lambda row: row.files,
    "small": lambda row: row.small,
    "average": lambda row: row.average,
    "flagged": lambda row: row.flagged,
    "at": lambda row: row.at,
    "outcome": lambda row: row.outcome,
    "warnings": lambda row: sum(row.codes.values()),
    "held": lambda row: row.held_bytes,
}
#: The columns whose first click shows the least first.
_ASCENDING = ("name", "average", "outcome")
WORST_FIRST = "small"


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to see, as the address says it."""

    database: str = ""
    name: str = ""
    outcome: str = ""
    code: str = ""
    sort: str = WORST_FIRST
    reverse: bool = False
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wanted:
        """Return what an address says. What it says wrongly is left out: an address may be an old one."""
        words = {key: query.get(key, "").strip()[:200] for key in ("database", "name", "outcome", "code")}
        sort = query.get("sort", "")
        number = query.get("page", "")
        return cls(
            **words,
            sort=sort if sort in COLUMNS else WORST_FIRST,
            reverse=query.get("reverse") == "1",
            page=int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1,
        )

    def query(self, **changes: Any) -> str:
        """Return the query of an address with some changes, without what is as by default."""
        other, default = replace(self, **changes), Wanted()
        told = {key: value for key, value in vars(other).items() if value != getattr(default, key)}
        return urlencode(
            {key: int(value) if isinstance(value, bool) else value for key, value in told.items()}
        )

    def sorted_by(self, column: str) -> str:
        """Return the query for a click on the head of a column: a second click turns the order round."""
        return self.query(sort=column, reverse=self.sort == column and not self.reverse, page=1)

    def direction(self, column: str) -> str | None:
        """Return how a column is sorted, in the words of ARIA; None if it is not the one."""
        if column != self.sort:
            return None
        return "ascending" if (column in _ASCENDING) != self.reverse else "descending"


@dataclass(frozen=True)
class Listing:
    """One page of the list.

    Args:
        found: how many tables are on all pages
    """

    rows: Sequence[Row]
    found: int
    page: int
    pages: int


def listing(rows: Sequence[Row], wanted: Wanted) -> Listing:
    """Return the page that is wanted; the last one if there are fewer."""
    found = [row for row in rows if _is_wanted(row, wanted)]
    ordered = _ordered(found, wanted)
    pages = max(1, -(-len(found) // PAGE_ROWS))
    page = min(max(1, wanted.page), pages)
    return Listing(ordered[(page - 1) * PAGE_ROWS : page * PAGE_ROWS], len(found), page, pages)


def _is_wanted(row: Row, wanted: Wanted) -> bool:
    return (
        wanted.database.lower() in ("", row.database.lower())
        and wanted.name.lower() in row.name.lower()
        and wanted.outcome in ("", row.outcome)
        and (not wanted.code or wanted.code in row.codes)
    )


def _ordered(rows: Sequence[Row], wanted: Wanted) -> list[Row]:
    key = COLUMNS[wanted.sort]
    known = sorted((row for row in rows if key(row) is not None), key=lambda row: row.name)
    known.sort(key=key, reverse=(wanted.sort in _ASCENDING) == wanted.reverse)
    return [*known, *(row for row in rows if key(row) is None)]
