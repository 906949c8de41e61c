"""Rolls a run back: the mirrored swap, only where the live directory is still the one that the run put there."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from spark_jobs.core import journal, layout
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.model import parent
from spark_jobs.core.wire import UnitReport
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


class Superseded(LakekeeperError):
    """The live directory is not the one that this run put there any more."""


class Restoration:
    """Puts the originals of one run folder back."""

    def __init__(self, cluster: Cluster, run: Run, locations: dict[str, str], on_new_data: str) -> None:
        self._cluster = cluster
        self._run = run
        self._locations = locations
        self._on_new_data = on_new_data
        self._undone = layout.undone_folder(str(int(run.state.started.timestamp())))

    def run(self, units: Sequence[UnitState], parallelism: int) -> list[UnitReport]:
        with ThreadPoolExecutor(parallelism) as pool:
            reports = list(pool.map(self._guarded, units))
        for report in reports:
            log.info("%s: %s%s", _name(report), report.outcome, f": {report.reason}" if report.reason else "")
        return reports

    def _guarded(self, state: UnitState) -> UnitReport:
        started = time.monotonic()
        unit = state.swap.unit.to_json()
        try:
            carried = self._restore(state)
        except Unsafe as error:
            return UnitReport.of(unit, "quarantined", reason=str(error))
        except (LakekeeperError, OSError) as error:
            return UnitReport.of(unit, "failed", reason=str(error))
        return self._report(state.swap, carried, time.monotonic() - started)

    def _report(self, swap: Swap, carried: int, seconds: float) -> UnitReport:
        kept = f"{carried} files that were added since stay in the table" if carried else None
        after = self._cluster.fs.manifest(swap.live)
        return UnitReport(
            unit=swap.unit.to_json(),
            outcome="restored",
            reason=kept,
            files=len(swap.compacted.data) + carried,
            bytes=swap.compacted.bytes,
            files_after=len(after.data),
            bytes_after=after.bytes,
            rows=swap.rows,
            seconds=round(seconds, 3),
        )

    def _restore(self, state: UnitState) -> int:
        """Returns how many files that were added since the compaction were carried into the restored directory."""
        swap = state.swap
        live = self._cluster.fs.identity(swap.live)
        undone = self._run.path(f"{self._undone}/{layout_relative(swap)}")
        if live == swap.new_id:
            self._check(swap)
            self._cluster.fs.mkdirs(parent(undone))
            self._journal(journal.ROLLBACK_PREPARED, swap)
            self._swap_back(swap, undone)
        elif live is None and state.kind == journal.ROLLBACK_PREPARED:
            self._move(self._run.path(swap.old), swap.live, swap.live_id)
        elif not (live == swap.live_id and state.kind == journal.ROLLBACK_PREPARED):
            raise Superseded(
                f"{swap.live} is not the directory that run {self._run.run_id} put there: a newer run has compacted"
                " it again (roll that one back first), or a writer replaced it."
                f" The originals stay in {self._run.path(swap.old)}"
            )
        carried = self._carry(swap, undone)
        self._journal(journal.ROLLED_BACK, swap)
        self._forget(swap, undone)
        return carried

    def _check(self, swap: Swap) -> None:
        """Safe to swap back only if the metastore still reads here, our files are untouched and the originals
        complete."""
        here = self._locations.get(swap.unit.key)
        if here != swap.live:
            raise Superseded(
                f"the metastore has {here or 'no partition'} for {swap.unit}, not {swap.live}; nothing was changed"
            )
        changes = swap.compacted.diff(list_unit(self._cluster.fs, swap.live))
        if changes.lost:
            raise Superseded(
                f"{swap.live} was overwritten since: {changes}; the originals stay in {self._run.path(swap.old)}"
            )
        if changes.added and self._on_new_data == "refuse":
            raise LakekeeperError(
                f"{swap.live} has {changes} since the compaction, and on_new_data is 'refuse'"
            )
        old = self._run.path(swap.old)
        if self._cluster.fs.identity(old) != swap.live_id or swap.originals.diff(
            list_unit(self._cluster.fs, old)
        ):
            raise Unsafe(f"{old} does not hold the originals that the journal lists; nothing was changed")

    def _swap_back(self, swap: Swap, undone: str) -> None:
        self._move(swap.live, undone, swap.new_id)
        try:
            self._move(self._run.path(swap.old), swap.live, swap.live_id)
        except OSError:
            self._move(undone, swap.live, swap.new_id)
            raise

    def _move(self, source: str, target: str, identity: str) -> None:
        """A refusing rename; an error after success is told from a failure by where the directory is."""
        try:
            self._cluster.fs.rename(source, target)
        except OSError:
            if self._cluster.fs.identity(target) != identity:
                raise

    def _carry(self, swap: Swap, undone: str) -> int:
        """Moves every file that the run did not write into the restored directory, under a name that is free there."""
        fs, carried = self._cluster.fs, 0
        try:
            extra = swap.compacted.diff(fs.manifest(undone)).added
        except FileNotFoundError:
            return 0
        for file in extra:
            fs.rename(
                f"{undone}/{file.name}", f"{swap.live}/{layout.fresh_name(file.name, uuid.uuid4().hex[:8])}"
            )
            carried += file.is_data
        return carried

    def _forget(self, swap: Swap, undone: str) -> None:
        """Deletes the compacted files, each by its journaled name and only if it is unchanged, then the empty
        folder."""
        fs = self._cluster.fs
        try:
            here = {file.name: file for file in fs.manifest(undone).files}
            for file in swap.compacted.files:
                if here.get(file.name) == file:
                    fs.delete_file(f"{undone}/{file.name}")
            fs.delete_empty(undone)
        except OSError as error:
            log.warning("%s is left behind: %s", undone, error)

    def _journal(self, kind: str, swap: Swap) -> None:
        self._run.journal.append(kind, units=[{"unit": swap.unit.key}])


def layout_relative(swap: Swap) -> str:
    """The unit's path below any of the run's folders: `__old_<ts>/<this>`."""
    return swap.old.split("/", 1)[1]


def _name(report: UnitReport) -> str | None:
    return "/".join(f"{key}={value}" for key, value in report.unit.items()) or "table"
