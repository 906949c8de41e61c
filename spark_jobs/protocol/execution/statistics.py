"""The statistics of compacted units in the metastore: changed after a compaction on request, put back by a rollback.

No file and no row depends on them, so an error of the metastore is a warning. Before a value is changed, a record has
what was there. A compaction that dies leaves old values or right ones, and the next attempt of its run changes them. A
rollback that dies leaves those of the compaction until the next job recovers it, which puts the others back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.records import journal
from spark_jobs.core.records.statistics import ALL_STATISTICS, FILE_STATISTICS, KeptStatistics, figures_of
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.core.values.other_writers import is_hidden
from spark_jobs.core.values.parameters import ParameterChange, UnitParameters, Values
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services

#: The units of one call. They are read, then read again and written: three calls, so one for 100 units.
_BATCH = 300
#: This many units are named in a warning.
_SHOWN = 5
_CHANGED = "the metastore has other values, or no such unit at this location: somebody else has changed it"
_NOT_COUNTED = "their files could not be counted"
_Seen = Mapping[str, UnitParameters]


class _NoAnswerError(Exception):
    """The metastore has not done what it was asked for."""


@dataclass
class _Item:
    """A unit of a run. `kept` is what the journal has of its statistics."""

    run: Run
    swap: Swap
    kept: KeptStatistics | None

    @property
    def unit(self) -> Unit:
        return self.swap.unit

    @property
    def key(self) -> str:
        return self.swap.unit.key


_Act = Callable[[Sequence[_Item]], list[str]]


class TableStatistics:
    """The statistics of the units of one table.

    Args:
        hold: raises an error if another job has taken over the leases.
    """

    def __init__(self, services: Services, facts: TableFacts, hold: Callable[[], object]) -> None:
        self._services = services
        self._facts = facts
        self._hold = hold

    def update(self, runs: Sequence[Run], options: Options) -> list[str]:
        """Change the statistics of the swapped units as the options say. Return warnings.

        Args:
            runs: the directories of one run, which are entered.
        """
        acts: list[tuple[WarningCode, _Act]] = []
        if options.analyze_after_compaction:  # guard: statistics_on_request
            acts.append((WarningCode.STATISTICS_NOT_COMPUTED, self._analyze))
        if options.file_stats:  # guard: file_statistics_on_request
            acts.append((WarningCode.STATISTICS_NOT_UPDATED, self._count))
        batches = _batches(runs, journal.COMMITTED) if acts else ()
        return [text for items in batches for code, act in acts for text in _told(items, code, act)]

    def put_back(self, runs: Sequence[Run]) -> list[str]:
        """Put the statistics of before back where originals were restored. Return warnings.

        Args:
            runs: directories that are entered; those of the newest run come first, because it was rolled back first.
        """
        texts: list[str] = []
        described = [run for run in runs if any(unit.statistics for unit in run.state.units.values())]
        for run_id in dict.fromkeys(run.run_id for run in described):
            same = [run for run in described if run.run_id == run_id]
            for items in _batches(same, journal.ROLLED_BACK):
                kept = [item for item in items if item.kept]
                texts += self._put_back(kept) if kept else []
        return texts

    def _analyze(self, items: Sequence[_Item]) -> list[str]:
        """Let Spark compute all statistics. What is changed by that is only known afterwards."""
        before = self._read(items)
        self._keep(items, before, ALL_STATISTICS, None)
        texts = [self._analyze_unit(item.unit) for item in items]
        now = self._read(items)
        after = {key: seen.values(ALL_STATISTICS) for key, seen in now.items()}
        self._keep(items, before, ALL_STATISTICS, after)
        return [text for text in texts if text]

    def _analyze_unit(self, unit: Unit) -> str | None:
        try:
            self._services.metastore.analyze(TableName.parse(self._facts.name), unit)
        except Exception as error:
            text = f"the statistics of {unit} could not be computed: {error}"
            return WarningCode.STATISTICS_NOT_COMPUTED.text(text)
        return None

    def _count(self, items: Sequence[_Item]) -> list[str]:
        """Set the figures of files.

        The metastore is asked before the files are counted: files that a writer adds later, and tells the metastore of,
        are noticed as a change of the unit there.
        """
        seen = self._read(items)
        figures = self._figures(items)
        changes = [
            ParameterChange(item.unit, seen[item.key], figures[item.key])
            for item in items
            if item.key in seen and item.key in figures
        ]
        changes = [change for change in changes if change.seen.values(FILE_STATISTICS) != change.values]
        keys = {change.unit.key for change in changes}
        self._keep([item for item in items if item.key in keys], seen, FILE_STATISTICS, figures)
        left = {unit.key for unit in self._write(changes)}
        changed = [item for item in items if item.key in left or item.key not in seen]
        uncounted = [item for item in items if item.key in seen and item.key not in figures]
        return [*_not_updated(changed, _CHANGED), *_not_updated(uncounted, _NOT_COUNTED)]

    def _figures(self, items: Sequence[_Item]) -> dict[str, Values]:
        """Return what is in the live directories now, as the metastore counts: late files of writers are among it."""
        listed = self._services.fs.list_each([item.unit.location for item in items])
        return {
            item.key: figures_of(status.entry() for status in entries)
            for item, entries in zip(items, listed)
            if not isinstance(entries, OSError) and _is_flat(entries)
        }

    def _put_back(self, items: Sequence[_Item]) -> list[str]:
        """Put the values back once, and record that it was tried.

        A later attempt might find the figures of another compaction, and take them for those of this run.
        """
        try:
            texts = _not_updated(self._restore(items), f"its statistics are not put back: {_CHANGED}")
        except _NoAnswerError as error:
            texts = _not_updated(items, f"its statistics are not put back: {error}")
        for item in items:
            item.kept = None
        self._record(items)
        return texts

    def _restore(self, items: Sequence[_Item]) -> list[_Item]:
        """Return the items whose values are now those of somebody else."""
        seen = self._read(items)
        changes, left = [], set()
        for item in items:
            now = seen.get(item.key)
            values = _to_put_back(item, now)
            if now is None or values is None:
                left.add(item.key)
            elif values:
                changes.append(ParameterChange(item.unit, now, values))
        left |= {unit.key for unit in self._write(changes)}
        return [item for item in items if item.key in left]

    def _read(self, items: Sequence[_Item]) -> _Seen:
        """Return what the metastore has of these units, without those that it has at another location."""
        places = {item.key: item.unit.location for item in items}
        units = [item.unit for item in items]
        try:
            found = self._services.metastore.parameters(self._facts, units)
        except Exception as error:
            raise _NoAnswerError(str(error)) from error
        return {key: seen for key, seen in found.items() if seen.location == places.get(key)}

    def _write(self, changes: Sequence[ParameterChange]) -> list[Unit]:
        """Make the changes, as long as this job holds the leases. Return the units that were left alone."""
        if not changes:
            return []
        self._hold()
        try:
            return self._services.metastore.set_parameters(self._facts, changes)
        except Exception as error:
            raise _NoAnswerError(str(error)) from error

    def _keep(
        self, items: Sequence[_Item], seen: _Seen, names: Sequence[str], after: Mapping[str, Values] | None
    ) -> None:
        """Record what the units had before, and what they have or will have afterwards, if that is known."""
        known = [item for item in items if item.key in seen]
        for item in known:
            new = None if after is None else after.get(item.key)
            before = seen[item.key].values(names)
            item.kept = item.kept.with_change(before, new) if item.kept else KeptStatistics.of(before, new)
        self._record(known)

    def _record(self, items: Sequence[_Item]) -> None:
        """Publish one record in each directory of the run."""
        by_directory: dict[str, list[_Item]] = defaultdict(list)
        for item in items:
            by_directory[item.run.directory].append(item)
        for same in by_directory.values():
            body = {item.key: item.kept.to_json() if item.kept else None for item in same}
            # A version that does not know the record finds no units in it, and goes on without the statistics.
            same[0].run.journal.append(journal.STATISTICS, units=[], statistics=body)


def _told(items: Sequence[_Item], code: WarningCode, act: _Act) -> list[str]:
    """Return the warnings of an act, also of one that the metastore has not let end."""
    try:
        return act(items)
    except _NoAnswerError as error:
        return [code.text(f"{_named(items)}: {error}")]


def _batches(runs: Sequence[Run], kind: str) -> Iterator[list[_Item]]:
    """Yield the units whose last record is of this kind. Those of several directories share the calls."""
    items = [
        _Item(run, unit.swap, unit.statistics)
        for run in runs
        for unit in run.current().of_kind(kind)
        if unit.dropped_at is None
    ]
    yield from (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _to_put_back(item: _Item, now: UnitParameters | None) -> Values | None:
    if now is None or item.kept is None:
        return None
    return item.kept.to_put_back(now.values(ALL_STATISTICS), figures_of(item.swap.compacted.files))


def _is_flat(entries: Sequence[Status]) -> bool:
    """Tell whether there are no directories that the metastore would look into."""
    return not any(entry.is_dir and not is_hidden(entry.name) for entry in entries)


def _not_updated(items: Sequence[_Item], why: str) -> list[str]:
    return [WarningCode.STATISTICS_NOT_UPDATED.text(f"{_named(items)}: {why}")] if items else []


def _named(items: Sequence[_Item]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(str(item.unit) for item in items[:_SHOWN]) + more
