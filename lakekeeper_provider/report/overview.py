"""What a DAG run did to many tables, in a few lines: what was compacted, what was not and why, what can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import open_units
from lakekeeper_provider.report.backlog import Night
from lakekeeper_provider.report.units import grid, human

#: How many tables are listed; the others are counted.
TABLES_SHOWN = 100
_COMPACTED = ("done", "partial")
_WORKED = (*_COMPACTED, "nothing")
#: Codes of tables that are not to be compacted: our own backups, and what others compact, or nobody.
NOT_TO_COMPACT = (
    *("BACKUP", "LEGACY_BACKUP", "VIEW", "MANAGED", "TRANSACTIONAL", "STORAGE_HANDLER", "OPTED_OUT"),
    *("ICEBERG", "DELTA", "HUDI", "PAIMON"),
)
#: Codes of what cannot be compacted faithfully, about which nobody can do anything.
CANNOT_BE_COMPACTED = (
    *("SKEWED", "SERDE", "OBJECT_STORE", "EMPTY", "TYPE", "CALENDAR", "UNKNOWN_INT96_WRITER", "ENCRYPTED"),
    *("NAN", "HEADER", "ENCODING", "ORIGINALS_DELETED"),
)
#: Outcomes and codes after which the next run does the work by itself. A person is told only once it stays open.
WAITS = ("busy", "ACTIVE_WRITER", "NOT_FOUND")


@dataclass(frozen=True)
class Overview:
    """The tables of the analyses and compactions of one DAG run.

    Args:
        analysed: the tables of the analyses, as in their XComs
        compacted: the tables of the compactions, as in their XComs
        left_out: what the tables keep and lack for which an XCom had no room (``summary.left_out``)
    """

    analysed: Sequence[Mapping[str, Any]]
    compacted: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, analyses: Any, compactions: Any) -> Overview:
        """Return the overview of the XComs of analyses and compactions; a skipped task has None."""
        entries = [entry for entry in (*(analyses or ()), *(compactions or ())) if entry]
        left_out = [entry["left_out"] for entry in entries if entry.get("left_out")]
        return cls(_tables(analyses), _tables(compactions), left_out)

    @property
    def not_listed(self) -> int:
        """Return how many tables were left undone for which an XCom had no room."""
        return sum(each.get("undone") or 0 for each in self.left_out)

    @property
    def line(self) -> str:
        """Return all of it in one line."""
        done, left = list(self._compacted()), {name for name, *_ in self._left_alone()}
        return ", ".join(
            [
                f"{_count(len(done), 'table')} compacted",
                f"{self._sum('before', 'files'):,} -> {self._sum('after', 'files'):,} files",
                f"{human(self._sum('before', 'bytes'))} -> {human(self._sum('after', 'bytes'))}",
                *([f"{_count(len(left), 'table')} with something left undone"] if left else []),
            ]
        )

    def figures(self) -> dict[str, Any]:
        """Return the sums and the line, for XCom."""
        sums = {
            f"{what}_{when}": self._sum(when, what)
            for what in ("files", "bytes")
            for when in ("before", "after")
        }
        return {"tables": sum(1 for _ in self._compacted()), **sums, "summary": self.line}

    def text(self) -> str:
        """Return the overview for the task log."""
        done = [_done_row(table) for table in self._compacted()]
        left = [(name, why) for name, why, _ in self._left_alone()]
        lines = [self.line]
        if done:
            header = ("compacted", "outcome", "files", "bytes", "originals can be read in")
            lines += grid([header, *done[:TABLES_SHOWN]], indent="  ")
            lines += _more(len(done))
        if left:
            lines += grid([("not, or not all", "why"), *left[:TABLES_SHOWN]], indent="  ")
            lines += _more(len(left))
        if sound := self._with_nothing_to_do():
            lines.append(f"  nothing to compact: {_count(sound, 'table')}")
        if others := Counter(table["code"] for table in self._not_to_compact()):
            lines.append(f"  not to compact: {_counted(others)}")
        if parts := self._skipped_for_good():
            lines.append(f"  partitions that cannot be compacted: {_counted(parts)}")
        lines += filter(None, [self.held_line])
        return "\n".join(map(one_line, lines))  # guard: lines_of_the_overview

    def _compacted(self) -> Iterator[Mapping[str, Any]]:
        return (table for table in self.compacted if table["outcome"] in _COMPACTED)

    def _not_to_compact(self) -> Iterator[Mapping[str, Any]]:
        """Return the tables about which a person need not do anything; each one once."""
        others = {table["table"]: table for table in (*self.analysed, *self.compacted) if _is_other(table)}
        return iter(others.values())

    def _left_alone(self) -> Iterator[tuple[str, str, bool]]:
        """Return the tables with something that was not compacted, why, and whether the next run does it by itself.

        A table may have several reasons.
        """
        for table in (*self.analysed, *self.compacted):
            if _is_undone(table):
                yield table["table"], _why(table), _waits(table)
            for code, count in (table.get("skipped") or {}).items():
                if code not in CANNOT_BE_COMPACTED:
                    yield table["table"], f"{_count(count, 'partition')} skipped: {code}", code in WAITS
        yield from ((name, text, False) for name, text in self._open())

    def _with_nothing_to_do(self) -> int:
        """Return how many tables were analysed and have nothing to compact."""
        undone = {name for name, *_ in self._left_alone()}
        last = self._last()
        return sum(table["outcome"] == "nothing" and name not in undone for name, table in last.items())

    def _skipped_for_good(self) -> Counter[str]:
        """Return how many partitions have been skipped of which nobody can do anything, by code."""
        found: Counter[str] = Counter()
        for table in self._last().values():
            found.update({c: n for c, n in (table.get("skipped") or {}).items() if c in CANNOT_BE_COMPACTED})
        return found

    def _last(self) -> dict[str, Mapping[str, Any]]:
        """Return what the last job of this run says of each table."""
        return {table["table"]: table for table in (*self.analysed, *self.compacted)}

    @property
    def held_line(self) -> str:
        """Return what can be rolled back, and what that holds; empty without anything."""
        tables = [table for table in self._holding() if table["held_runs"]]
        if not tables:
            return ""
        runs, size = (sum(table[key] for table in tables) for key in ("held_runs", "held_bytes"))
        since = min(str(table["held_since"]) for table in tables)
        what = "compaction" if runs == 1 else "compactions"
        return f"{runs} {what} can be rolled back, {human(size)} held, the oldest of {since[:10]}"

    @property
    def held_bytes(self) -> int:
        """Return the bytes of originals that the tables keep."""
        return sum(table["held_bytes"] for table in self._holding())

    def _holding(self) -> Iterable[Mapping[str, Any]]:
        """Return, of each table, the last that is known of its originals: a job that could not work knows nothing."""
        known = (table for table in (*self.analysed, *self.compacted) if table.get("held_runs") is not None)
        return [*{table["table"]: table for table in known}.values(), *self.left_out]

    @property
    def night(self) -> Night:
        """Return how many files of flagged partitions this run has found, removed and left."""
        done = {table["table"]: table for table in self.compacted}
        found = {table["table"]: table.get("flagged_files") or 0 for table in self.analysed}
        left = [_left_files(done.get(name), files) for name, files in found.items()]
        removed = self._sum("before", "files") - self._sum("after", "files")
        return Night(sum(found.values()), removed, sum(left))

    def problems(self, overdue: Collection[str] = ()) -> list[str]:
        """Return one line for each table about which a person can do something.

        Args:
            overdue: tables that have waited in so many nights that a person should look at them
        """
        reasons: dict[str, dict[str, None]] = {}
        for name, why, waits in self._left_alone():
            if not waits or name in overdue:
                reasons.setdefault(name, {})[why] = None
        lines = [f"{name}: {'; '.join(each)}" for name, each in reasons.items()]
        return [
            *lines,
            *([f"{self.not_listed} more tables: see the logs of the tasks"] if self.not_listed else []),
        ]

    def waiting(self) -> list[str]:
        """Return the tables that were left to the next run as a whole."""
        return [name for name, table in self._last().items() if _waits(table)]

    def _open(self) -> Iterator[tuple[str, str]]:
        """Return the tables with units that were found day after day, as the last job of this run has left them."""
        analysed = {table["table"]: table for table in self.analysed}
        compacted = {table["table"]: table for table in self.compacted}
        for name in dict.fromkeys((*analysed, *compacted)):
            text = open_units.left(analysed.get(name, {}), compacted.get(name))
            if text:
                yield name, text

    def _sum(self, when: str, what: str) -> int:
        return sum((table.get(when) or {}).get(what) or 0 for table in self._compacted())


def _tables(entries: Iterable[Mapping[str, Any] | None] | None) -> list[Mapping[str, Any]]:
    return [table for entry in entries or () if entry for table in entry.get("tables") or ()]


def _is_other(table: Mapping[str, Any]) -> bool:
    return table["outcome"] == "refused" and table.get("code") in (*NOT_TO_COMPACT, *CANNOT_BE_COMPACTED)


def needs_a_look(table: Mapping[str, Any]) -> bool:
    """Tell whether a person can do something about a table, or about partitions of it, as XCom has it."""
    skipped = set(table.get("skipped") or ()) - {*CANNOT_BE_COMPACTED, *WAITS}
    is_open = table.get("open") or table.get("open_refused")
    return bool((_is_undone(table) and not _waits(table)) or skipped or is_open)


def _is_undone(table: Mapping[str, Any]) -> bool:
    return table["outcome"] not in ("done", "nothing") and not _is_other(table)


def _waits(table: Mapping[str, Any]) -> bool:
    return table["outcome"] in WAITS or table.get("code") in WAITS


def _left_files(compaction: Mapping[str, Any] | None, flagged: int) -> int:
    """Return how many of the flagged files of a table its compaction has left; all, if it could not work."""
    if compaction is None or (compaction["outcome"] not in _WORKED and "left_files" not in compaction):
        return flagged
    return int(compaction.get("left_files") or 0)


def _why(table: Mapping[str, Any]) -> str:
    code = f"{table['code']}: " if table.get("code") else ""
    return f"{table['outcome']}: {code}{table.get('reason') or 'see the log of its task'}"


def _done_row(table: Mapping[str, Any]) -> tuple[str, ...]:
    before, after = table.get("before") or {}, table.get("after") or {}
    return (
        table["table"],
        table["outcome"],
        f"{before.get('files', 0)} -> {after.get('files', 0)}",
        f"{human(before.get('bytes', 0))} -> {human(after.get('bytes', 0))}",
        table.get("backup_table") or "-",
    )


def _counted(codes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {code}" for code, count in codes.items())


def _more(count: int) -> list[str]:
    return [f"  ... and {count - TABLES_SHOWN} more"] if count > TABLES_SHOWN else []


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
