"""Compacts the flagged units of one table: write, verify, journal, swap, commit; then the backup table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from spark_jobs.core import footers, journal, layout
from spark_jobs.core.errors import Deferred, LakekeeperError, Refusal, UnitChanged
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import Manifest
from spark_jobs.core.writer_options import writer_options
from spark_jobs.protocol.execution.preconditions import Checks
from spark_jobs.protocol.execution.recovery import Settlement, record
from spark_jobs.protocol.execution.unit_attributes import Clothes, dress_like
from spark_jobs.protocol.execution.unit_results import Outcome, describe, failed
from spark_jobs.protocol.execution.written_unit import Written, settled_outcome, swapped_outcome
from spark_jobs.protocol.planning.footer_inspection import Inspection, inspect, read_footers
from spark_jobs.protocol.planning.planner import Listing, TableSurvey, UnitSurvey
from spark_jobs.protocol.ports import FileSystemError, Pool, Rewrite
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit
from spark_jobs.protocol.swap.forward import Swapping
from spark_jobs.protocol.swap.late_files import differences
from spark_jobs.protocol.swap.swap_executor import Verdict

log = logging.getLogger("lakekeeper")


class Compaction:
    """One home's part of one run. `entered` is that run, whose folder gets another name where a server's answer left
    in doubt what it does."""

    def __init__(
        self, cluster: Services, table: TableSurvey, home: Home, run: Run, stamp: str, settlement: Settlement
    ) -> None:
        self.entered = run
        self._cluster = cluster
        self._table = table
        self._home = home
        self._stamp = stamp
        self._settlement = settlement
        self._checks = Checks(cluster, table)
        self._made: set[str] = set()
        self._done = 0

    @property
    def _executor(self) -> Swapping:
        return Swapping(self._cluster, self.entered, self._settlement.policy)

    def run(self, units: Sequence[UnitSurvey], ready: Sequence[Written] = ()) -> list[Outcome]:
        """Waves of units side by side: one PREPARED and one COMMITTED record serve a whole wave.

        `ready` units were written and verified by an earlier attempt, and are not written again.
        """
        wave, total = self._table.options.parallelism * 4, len(units) + len(ready)
        outcomes = []
        with self._cluster.pool(self._table.options.parallelism) as pool:
            outcomes += self._swap_all(pool, ready, total) if ready else []
            for start in range(0, len(units), wave):
                outcomes += self._wave(pool, units[start : start + wave], total)
        return outcomes

    def _wave(self, pool: Pool, units: Sequence[UnitSurvey], total: int) -> list[Outcome]:
        prepared = list(pool.map(self._guarded_write, units))
        written = [item for item in prepared if isinstance(item, Written)]
        outcomes = [item for item in prepared if isinstance(item, Outcome)]
        self._progress(outcomes, total)
        if written:
            # guard: journal_before_rename
            self.entered.journal.append(journal.PREPARED, swaps=[item.swap.to_json() for item in written])
            outcomes += self._swap_all(pool, written, total)
        return outcomes

    def _swap_all(self, pool: Pool, written: Sequence[Written], total: int) -> list[Outcome]:
        # The folders above the units are shared: one fresh listing of each serves the wave.
        listing = lru_cache(maxsize=None)(self._cluster.fs.list)
        swapped = list(pool.map(lambda item: self._guarded_swap(item, listing), written))
        done = [outcome.record for outcome in swapped if outcome.record]
        if done:
            self.entered.journal.append(journal.COMMITTED, units=done)
        if any(outcome.doubtful for outcome in swapped):
            swapped = self._settled(written, swapped)
        self._progress(swapped, total)
        return swapped

    def _settled(self, written: Sequence[Written], swapped: Sequence[Outcome]) -> list[Outcome]:
        """A record of where a unit stands would be wrong as soon as the server carries out what it answered with an
        error. It cannot any more once the run's folder has another name: then is looked at what has become of it."""
        settled = self._settlement.run(self.entered)
        self.entered = settled.run
        verdicts = settled.verdicts
        return [
            settled_outcome(item, outcome, verdicts.get(item.swap.unit.key)) if outcome.doubtful else outcome
            for item, outcome in zip(written, swapped)
        ]

    def _progress(self, outcomes: Sequence[Outcome], total: int) -> None:
        for outcome in outcomes:
            self._done += 1
            log.info("[%d/%d] %s", self._done, total, describe(outcome.report))

    def _guarded_write(self, survey: UnitSurvey) -> Written | Outcome:
        """A failed unit is tidied up and reported, and never stops the others."""
        try:
            return self._write(survey)
        except Exception as error:
            self._discard_tmp(survey)  # guard: unit_failure_isolated
            return failed(survey, self._cause(survey, error))

    def _cause(self, survey: UnitSurvey, error: Exception) -> Exception:
        """Files that somebody replaced while they were read, or has not finished, make for all kinds of errors; none of
        them is a failure."""
        fs, location = self._cluster.fs, survey.unit.location
        plain = isinstance(error, (Refusal, Deferred))
        try:
            now = fs.manifest(location)
            opened = [] if plain else fs.open_files(location, [file.name for file in now.data])
        except OSError:
            return error
        lost = differences(survey.manifest, now).lost if survey.manifest else ()
        if lost:
            return UnitChanged(f"{lost[0].name} was replaced or removed meanwhile ({error})")
        if opened:
            return Refusal("ACTIVE_WRITER", f"{location}/{opened[0]} is being written ({error})")
        return error

    def _write(self, survey: UnitSurvey) -> Written:
        started = time.monotonic()
        before = self._checks.before_write(survey.unit.location)
        found = inspect(self._cluster, self._table, survey.unit.location, before)
        written = self._rewrite(survey, before, found)
        return replace(written, seconds=time.monotonic() - started)

    def _rewrite(self, survey: UnitSurvey, before: Manifest, found: Inspection) -> Written:
        new, live = self.entered.path(self._new(survey)), survey.unit.location
        clothes = Clothes.of(self._cluster.fs, live, before)
        warnings = self._make_way(layout.tmp_folder, live)
        self._cluster.fs.mkdirs(new)
        warnings += clothes.dress_folder(new, self._table.options.attributes)
        plan = self._plan(survey, before, found, new, clothes.file.replication)
        rewritten = self._cluster.rewriter.write(plan)
        self._copy_flags(live, before, new)
        warnings += clothes.dress_files(new, self._table.options.attributes)
        compacted = list_unit(self._cluster.fs, new)
        footers.check_written(found.profile, read_footers(self._cluster, self._table, new, compacted))
        swap = self._prepare(survey, before, compacted, rewritten.rows)
        said = (*found.profile.warnings, *rewritten.warnings, *warnings)
        return Written(survey, swap, found.profile, clothes, warnings=said)

    def _plan(
        self, survey: UnitSurvey, before: Manifest, found: Inspection, new: str, replication: int | None
    ) -> Rewrite:
        thresholds = self._table.options.thresholds()
        assert survey.health is not None
        return Rewrite(
            files=[f"{survey.unit.location}/{f.name}" for f in before.data if f.length],
            file_format=self._table.file_format,
            target=new,
            target_files=survey.health.target_files,
            target_bytes=thresholds.target,
            profile=found.profile,
            encoding=found.encoding,
            replication=replication,
            hashed=self._table.options.verify == "hash",
            options=writer_options(
                found.profile,
                self._table.file_format,
                self._table.facts.properties,
                survey.health.target_files,
            ),
            sort_columns=self._sort_columns(),
        )

    def _sort_columns(self) -> list[str]:
        """Options first, then the DDL's SORTED BY; partition keys are constant within a unit."""
        facts = self._table.facts
        keys = {key.lower() for key in facts.partition_keys}
        columns = self._table.options.sort_columns or facts.sorted_by
        return [column for column in columns if column.lower() not in keys]

    def _copy_flags(self, live: str, before: Manifest, new: str) -> None:
        """What somebody waits for is there in the very moment in which the directories change places."""
        fs, flags = self._cluster.fs, [file.name for file in before.files if file.is_flag]
        try:
            there = {status.name for status in fs.list(live)} if flags else set()
        except FileNotFoundError:
            raise UnitChanged(f"{live} vanished while it was compacted") from None
        for name in flags:
            if name not in there:
                raise UnitChanged(f"{live}/{name} was taken away while the unit was compacted")
            fs.create(f"{new}/{name}", b"")

    def _prepare(self, survey: UnitSurvey, before: Manifest, compacted: Manifest, rows: int) -> Swap:
        """The intent, with the identities of both directories. All parents are made here, never later."""
        fs, unit = self._cluster.fs, survey.unit
        live_id, new_id = fs.identity(unit.location), fs.identity(self.entered.path(self._new(survey)))
        if live_id is None or new_id is None:
            raise UnitChanged(f"{unit.location} vanished while it was compacted")
        swap = Swap(
            spec=unit.spec,
            live=unit.location,
            new=self._new(survey),
            old=self._place(layout.old_folder, survey),
            aside=self._place(layout.undone_folder, survey),
            conflict=self._place(layout.conflict_folder, survey),
            live_id=live_id,
            new_id=new_id,
            originals=before,
            compacted=compacted,
            rows=rows,
        )
        for folder in (layout.old_folder, layout.undone_folder):
            self._make_way(folder, unit.location)
        return swap

    def _make_way(self, folder: Callable[[str], str], location: str) -> list[str]:
        """The folders above a unit's place, each as closed as the one that it stands for: who may not pass there may
        not pass here. Partitions share them: each is made once. Returns warnings."""
        top, home = self.entered.path(folder(self._stamp)), self._home
        warnings, parts = [], home.relative(location).split("/")[:-1]
        for way in ("/".join(parts[:depth]) for depth in range(len(parts) + 1)):
            target = f"{top}/{way}".rstrip("/")
            if target in self._made:
                continue
            self._cluster.fs.mkdirs(target)
            if way:
                policy = self._table.options.attributes
                warnings += dress_like(self._cluster.fs, f"{home.base}/{way}", target, policy)
            self._made.add(target)
        return warnings

    def _new(self, survey: UnitSurvey) -> str:
        return self._place(layout.tmp_folder, survey)

    def _place(self, folder: Callable[[str], str], survey: UnitSurvey) -> str:
        return f"{folder(self._stamp)}/{self._home.relative(survey.unit.location)}"

    def _guarded_swap(self, item: Written, listing: Listing) -> Outcome:
        """Whatever goes wrong, the intent is journaled as settled only after a look at where the directories are."""
        try:
            return self._swap(item, listing)
        except FileSystemError as error:
            return replace(failed(item.survey, error), doubtful=True)
        except Exception as error:
            return failed(item.survey, error)

    def _swap(self, item: Written, listing: Listing) -> Outcome:
        try:
            verdict = self._executor.swap(item.swap, lambda: self._last_check(item, listing))
        except (UnitChanged, Deferred, Refusal) as called_off:
            self._discarded(item.swap, self._executor.settle(item.swap, str(called_off)))
            raise
        if verdict.kind == journal.COMMITTED:
            return swapped_outcome(item, verdict)
        self._discarded(item.swap, verdict)
        raise (LakekeeperError if verdict.failed else UnitChanged)(verdict.problem)

    def _last_check(self, item: Written, listing: Listing) -> None:
        if item.survey.refusal is not None:  # guard: refused_since
            raise item.survey.refusal
        self._checks.before_swap(item.swap, self.entered.path(item.swap.new), item.clothes, listing)

    def _discarded(self, swap: Swap, verdict: Verdict) -> None:
        record(self.entered, self._executor, swap, verdict)

    def _discard_tmp(self, survey: UnitSurvey) -> None:
        """Deletes what a failed write left; it never was live, lies in our own folder, and so holds nothing else."""
        path = self.entered.path(self._new(survey))
        try:
            if self._cluster.fs.status(path) is not None:
                self._cluster.fs.delete_tree(path)
        except OSError as error:
            log.warning("%s is left behind: %s", path, error)
