"""Rolls a run back: the mirrored swap, only where the live directory is still the one that the run put there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core import journal, layout
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.model import parent
from spark_jobs.core.wire import UnitReport
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.leftovers import carry, forget
from spark_jobs.shell.ports import Pool
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


class Superseded(LakekeeperError):
    """The live directory is not the one that this run put there any more."""


@dataclass(frozen=True)
class _Step:
    """One unit on its way back; `report` is set where the way ended early."""

    state: UnitState
    report: UnitReport | None = None
    carried: int = 0


class Restoration:
    """Puts the originals of one run folder back."""

    def __init__(self, cluster: Cluster, run: Run, locations: Mapping[str, str], on_new_data: str) -> None:
        self._cluster = cluster
        self._run = run
        self._locations = locations
        self._on_new_data = on_new_data
        self._undone = layout.undone_folder(str(int(run.state.started.timestamp())))

    def run(self, units: Sequence[UnitState], parallelism: int) -> list[UnitReport]:
        """Waves of units side by side: one record before and one after serve a whole wave."""
        reports: list[UnitReport] = []
        wave = parallelism * 4
        with self._cluster.pool(parallelism) as pool:
            for start in range(0, len(units), wave):
                reports += self._wave(pool, units[start : start + wave])
        return reports

    def _wave(self, pool: Pool, units: Sequence[UnitState]) -> list[UnitReport]:
        started = time.monotonic()
        steps = list(pool.map(self._step(self._prepare), map(_Step, units)))
        self._journal(journal.ROLLBACK_PREPARED, steps)
        steps = list(pool.map(self._step(self._restore), steps))
        self._journal(journal.ROLLED_BACK, steps)
        for step in steps:
            self._tidy(step)
        return [self._report(step, time.monotonic() - started) for step in steps]

    def _step(self, act: Callable[[_Step], _Step]) -> Callable[[_Step], _Step]:
        """One unit that cannot go back must not stop the others."""

        def guarded(step: _Step) -> _Step:
            if step.report:
                return step
            unit = step.state.swap.unit.to_json()
            try:
                return act(step)
            except Unsafe as error:
                return replace(step, report=UnitReport.of(unit, "quarantined", reason=str(error)))
            except (LakekeeperError, OSError) as error:
                return replace(step, report=UnitReport.of(unit, "failed", reason=str(error)))

        return guarded

    def _journal(self, kind: str, steps: Sequence[_Step]) -> None:
        units = [{"unit": s.state.swap.unit.key, "undone": self._relative(s)} for s in steps if not s.report]
        if units:
            self._run.journal.append(kind, units=units)

    def _relative(self, step: _Step) -> str:
        return f"{self._undone}/{layout_relative(step.state.swap)}"

    def _prepare(self, step: _Step) -> _Step:
        """Before anything moves. A rollback that was interrupted goes on from wherever it stands."""
        swap, fs = step.state.swap, self._cluster.fs
        live = fs.identity(swap.live)
        if live == swap.new_id:
            self._check(swap)
            fs.mkdirs(parent(self._run.path(self._relative(step))))
        elif step.state.kind != journal.ROLLBACK_PREPARED:
            raise Superseded(
                f"{swap.live} is not the directory that run {self._run.run_id} put there: a newer run has compacted"
                " it again (roll that one back first), or a writer replaced it."
                f" The originals stay in {self._run.path(swap.old)}"
            )
        elif live not in (None, swap.live_id):
            raise Unsafe(
                f"somebody made {swap.live} anew while it was rolled back; nothing was changed. The originals are in"
                f" {self._run.path(swap.old)}, what stood there before in {self._run.path(self._relative(step))}"
            )
        return step

    def _check(self, swap: Swap) -> None:
        """Safe only if the metastore still reads here, our files are untouched and the originals complete."""
        self._check_location(swap)
        changes = swap.compacted.diff(list_unit(self._cluster.fs, swap.live))
        self._check_lost(swap, [file.name for file in changes.lost if file.is_data])
        if any(file.is_data for file in changes.added) and self._on_new_data == "refuse":
            raise LakekeeperError(
                f"{swap.live} has {changes} since the compaction, and on_new_data is 'refuse'"
            )
        self._check_originals(swap)

    def _check_location(self, swap: Swap) -> None:
        here = self._locations.get(swap.unit.key)
        if here != swap.live:
            where = here or "no partition"
            raise Superseded(
                f"the metastore has {where} for {swap.unit}, not {swap.live}; nothing was changed"
            )

    def _check_lost(self, swap: Swap, lost: Sequence[str]) -> None:
        if lost:
            raise Superseded(
                f"{swap.live} was overwritten since ({lost[0]} changed or vanished);"
                f" the originals stay in {self._run.path(swap.old)}"
            )

    def _check_originals(self, swap: Swap) -> None:
        old = self._run.path(swap.old)
        if self._cluster.fs.identity(old) != swap.live_id or swap.originals.diff(
            list_unit(self._cluster.fs, old)
        ):
            raise Unsafe(f"{old} does not hold the originals that the journal lists; nothing was changed")

    def _restore(self, step: _Step) -> _Step:
        swap, undone = step.state.swap, self._run.path(self._relative(step))
        live = self._cluster.fs.identity(swap.live)
        if live == swap.new_id:
            self._swap_back(swap, undone)
        elif live is None:
            self._check_location(swap)
            self._check_originals(swap)
            self._cluster.fs.move(self._run.path(swap.old), swap.live, swap.live_id)
        return replace(step, carried=carry(self._cluster.fs, swap.compacted, undone, swap.live))

    def _swap_back(self, swap: Swap, undone: str) -> None:
        self._cluster.fs.move(swap.live, undone, swap.new_id)
        try:
            changes = swap.compacted.diff(list_unit(self._cluster.fs, undone))
            self._check_lost(swap, [file.name for file in changes.lost if file.is_data])
            self._cluster.fs.move(self._run.path(swap.old), swap.live, swap.live_id)
        except Exception:
            self._cluster.fs.move(undone, swap.live, swap.new_id)
            raise

    def _tidy(self, step: _Step) -> None:
        undone = self._run.path(self._relative(step))
        try:
            if not step.report and not forget(self._cluster.fs, step.state.swap.compacted, undone):
                log.warning("%s is left behind: it holds what this run did not write", undone)
        except OSError as error:
            log.warning("%s is left behind: %s", undone, error)

    def _report(self, step: _Step, seconds: float) -> UnitReport:
        report = step.report or self._restored(step, seconds)
        log.info(
            "%s: %s%s", step.state.swap.unit, report.outcome, f": {report.reason}" if report.reason else ""
        )
        return report

    def _restored(self, step: _Step, seconds: float) -> UnitReport:
        swap, carried = step.state.swap, step.carried
        return UnitReport(
            unit=swap.unit.to_json(),
            outcome="restored",
            reason=f"{carried} files that were added since stay in the table" if carried else None,
            files=len(swap.compacted.data) + carried,
            bytes=swap.compacted.bytes,
            files_after=len(swap.originals.data) + carried,
            bytes_after=swap.originals.bytes,
            rows=swap.rows,
            seconds=round(seconds, 3),
        )


def layout_relative(swap: Swap) -> str:
    """The unit's path below any of the run's folders: `__old_<ts>/<this>`."""
    return swap.old.split("/", 1)[1]
