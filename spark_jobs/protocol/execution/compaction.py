"""Compacts the flagged units of one table: write, verify, journal, swap, commit; then the backup table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from spark_jobs.core import footers, journal, layout
from spark_jobs.core.errors import Deferred, LakekeeperError, Refusal, UnitChanged
from spark_jobs.core.health import assess
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import Manifest
from spark_jobs.core.plan import TablePlan, UnitPlan
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.writer_options import writer_options
from spark_jobs.protocol.execution.preconditions import Preconditions
from spark_jobs.protocol.execution.recovery import Recovery, record
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes, copy_directory_attributes
from spark_jobs.protocol.execution.unit_results import Outcome, describe, failed
from spark_jobs.protocol.execution.written_unit import Written, resolved_outcome, swapped_outcome
from spark_jobs.protocol.planning.active_writers import ListDirectory
from spark_jobs.protocol.planning.footer_inspection import Inspection, inspect, read_footers
from spark_jobs.protocol.ports import FileSystemError, Pool, RewriteRequest
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.late_files import differences
from spark_jobs.protocol.swap.swap_executor import SwapResult

log = logging.getLogger("lakekeeper")


class Compaction:
    """One home's part of one run. `entered` is that run, whose folder gets another name where a server's answer left
    in doubt what it does."""

    def __init__(
        self, services: Services, table: TablePlan, home: Home, run: Run, stamp: str, recovery: Recovery
    ) -> None:
        self.entered = run
        self._services = services
        self._table = table
        self._home = home
        self._stamp = stamp
        self._recovery = recovery
        self._checks = Preconditions(services, table)
        self._made: set[str] = set()
        self._done = 0

    @property
    def _executor(self) -> ForwardSwap:
        return ForwardSwap(self._services, self.entered, self._recovery.policy)

    def run(self, units: Sequence[UnitPlan], ready: Sequence[Written] = ()) -> list[Outcome]:
        """Waves of units side by side: one PREPARED and one COMMITTED record serve a whole wave.

        `ready` units were written and verified by an earlier attempt, and are not written again.
        """
        wave, total = self._table.options.parallelism * 4, len(units) + len(ready)
        outcomes = []
        with self._services.pool(self._table.options.parallelism) as pool:
            outcomes += self._swap_all(pool, ready, total) if ready else []
            for start in range(0, len(units), wave):
                outcomes += self._wave(pool, units[start : start + wave], total)
        return outcomes

    def _wave(self, pool: Pool, units: Sequence[UnitPlan], total: int) -> list[Outcome]:
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
        listing = lru_cache(maxsize=None)(self._services.fs.list)
        swapped = list(pool.map(lambda item: self._guarded_swap(item, listing), written))
        done = [outcome.record for outcome in swapped if outcome.record]
        if done:
            self.entered.journal.append(journal.COMMITTED, units=done)
        if any(outcome.outcome_unknown for outcome in swapped):
            swapped = self._recovered(written, swapped)
        self._progress(swapped, total)
        return swapped

    def _recovered(self, written: Sequence[Written], swapped: Sequence[Outcome]) -> list[Outcome]:
        """A record of where a unit stands would be wrong as soon as the server carries out what it answered with an
        error. It cannot any more once the run's folder has another name: then is looked at what has become of it."""
        recovered = self._recovery.run(self.entered)
        self.entered = recovered.run
        results = recovered.results
        return [
            resolved_outcome(item, outcome, results.get(item.swap.unit.key))
            if outcome.outcome_unknown
            else outcome
            for item, outcome in zip(written, swapped)
        ]

    def _progress(self, outcomes: Sequence[Outcome], total: int) -> None:
        for outcome in outcomes:
            self._done += 1
            log.info("[%d/%d] %s", self._done, total, describe(outcome.report))

    def _guarded_write(self, plan: UnitPlan) -> Written | Outcome:
        """A failed unit is tidied up and reported, and never stops the others."""
        try:
            return self._write(plan)
        except Exception as error:
            self._discard_tmp(plan)  # guard: unit_failure_isolated
            return failed(plan, self._cause(plan, error))

    def _cause(self, plan: UnitPlan, error: Exception) -> Exception:
        """Files that somebody replaced while they were read, or has not finished, make for all kinds of errors; none of
        them is a failure."""
        fs, location = self._services.fs, plan.unit.location
        plain = isinstance(error, (Refusal, Deferred))
        try:
            now = fs.manifest(location)
            opened = [] if plain else fs.open_files(location, [file.name for file in now.data])
        except OSError:
            return error
        lost = differences(plan.inputs.files, now).lost if plan.inputs else ()
        if lost:
            return UnitChanged(f"{lost[0].name} was replaced or removed meanwhile ({error})")
        if opened:
            return Refusal(RefusalCode.ACTIVE_WRITER, f"{location}/{opened[0]} is being written ({error})")
        return error

    def _write(self, plan: UnitPlan) -> Written:
        started = time.monotonic()
        before = self._checks.before_write(plan.unit.location)
        plan = plan.confirmed(before, self._table.options.thresholds())
        found = inspect(self._services, self._table, plan.unit.location, before)
        written = self._rewrite(plan, before, found)
        return replace(written, seconds=time.monotonic() - started)

    def _rewrite(self, plan: UnitPlan, before: Manifest, found: Inspection) -> Written:
        new, live = self.entered.path(self._new(plan)), plan.unit.location
        attributes = UnitAttributes.of(self._services.fs, live, before)
        warnings = self._make_way(layout.tmp_folder, live)
        self._services.fs.mkdirs(new)
        warnings += attributes.apply_to_directory(new, self._table.options.attributes)
        request = self._rewrite_request(plan, before, found, new, attributes.file.replication)
        rewritten = self._services.rewriter.write(request)
        self._copy_flags(live, before, new)
        warnings += attributes.apply_to_files(new, self._table.options.attributes)
        compacted = list_unit(self._services.fs, new)
        footers.check_written(found.profile, read_footers(self._services, self._table, new, compacted))
        swap = self._prepare(plan, before, compacted, rewritten.rows)
        said = (*found.profile.warnings, *rewritten.warnings, *warnings)
        return Written(plan, swap, found.profile, attributes, warnings=said)

    def _rewrite_request(
        self, plan: UnitPlan, before: Manifest, found: Inspection, new: str, replication: int | None
    ) -> RewriteRequest:
        thresholds = self._table.options.thresholds()
        target_files = assess(before, thresholds).target_files
        return RewriteRequest(
            files=[f"{plan.unit.location}/{f.name}" for f in before.data if f.length],
            file_format=self._table.file_format,
            target=new,
            target_files=target_files,
            target_bytes=thresholds.target,
            profile=found.profile,
            encoding=found.encoding,
            replication=replication,
            hashed=self._table.options.verify == "hash",
            options=writer_options(
                found.profile,
                self._table.file_format,
                self._table.facts.properties,
                target_files,
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
        fs, flags = self._services.fs, [file.name for file in before.files if file.is_flag]
        try:
            there = {status.name for status in fs.list(live)} if flags else set()
        except FileNotFoundError:
            raise UnitChanged(f"{live} vanished while it was compacted") from None
        for name in flags:
            if name not in there:
                raise UnitChanged(f"{live}/{name} was taken away while the unit was compacted")
            fs.create(f"{new}/{name}", b"")

    def _prepare(self, plan: UnitPlan, before: Manifest, compacted: Manifest, rows: int) -> Swap:
        """The intent, with the identities of both directories. All parents are made here, never later."""
        fs, unit = self._services.fs, plan.unit
        live_id, new_id = fs.identity(unit.location), fs.identity(self.entered.path(self._new(plan)))
        if live_id is None or new_id is None:
            raise UnitChanged(f"{unit.location} vanished while it was compacted")
        swap = Swap(
            spec=unit.spec,
            live=unit.location,
            new=self._new(plan),
            old=self._place(layout.old_folder, plan),
            aside=self._place(layout.undone_folder, plan),
            conflict=self._place(layout.conflict_folder, plan),
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
            self._services.fs.mkdirs(target)
            if way:
                policy = self._table.options.attributes
                warnings += copy_directory_attributes(self._services.fs, f"{home.base}/{way}", target, policy)
            self._made.add(target)
        return warnings

    def _new(self, plan: UnitPlan) -> str:
        return self._place(layout.tmp_folder, plan)

    def _place(self, folder: Callable[[str], str], plan: UnitPlan) -> str:
        return f"{folder(self._stamp)}/{self._home.relative(plan.unit.location)}"

    def _guarded_swap(self, item: Written, listing: ListDirectory) -> Outcome:
        """Whatever goes wrong, the intent is journaled as settled only after a look at where the directories are."""
        try:
            return self._swap(item, listing)
        except FileSystemError as error:
            return replace(failed(item.plan, error), outcome_unknown=True)
        except Exception as error:
            return failed(item.plan, error)

    def _swap(self, item: Written, listing: ListDirectory) -> Outcome:
        try:
            result = self._executor.swap(item.swap, lambda: self._last_check(item, listing))
        except (UnitChanged, Deferred, Refusal) as called_off:
            self._discarded(item.swap, self._executor.finish(item.swap, str(called_off)))
            raise
        if result.kind == journal.COMMITTED:
            return swapped_outcome(item, result)
        self._discarded(item.swap, result)
        raise (LakekeeperError if result.failed else UnitChanged)(result.problem)

    def _last_check(self, item: Written, listing: ListDirectory) -> None:
        if item.plan.refusal is not None:  # guard: refused_since
            raise item.plan.refusal
        self._checks.before_swap(item.swap, self.entered.path(item.swap.new), item.attributes, listing)

    def _discarded(self, swap: Swap, result: SwapResult) -> None:
        record(self.entered, self._executor, swap, result)

    def _discard_tmp(self, plan: UnitPlan) -> None:
        """Deletes what a failed write left; it never was live, lies in our own folder, and so holds nothing else."""
        path = self.entered.path(self._new(plan))
        try:
            if self._services.fs.status(path) is not None:
                self._services.fs.delete_tree(path)
        except OSError as error:
            log.warning("%s is left behind: %s", path, error)
