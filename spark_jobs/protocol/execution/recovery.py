"""Recovery: whatever run somebody left unfinished is brought to rest before anything else is done to the table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError, Refusal, Unsafe
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.layout import is_below
from spark_jobs.core.model import parent
from spark_jobs.core.swap_state import Where
from spark_jobs.core.wire import UnitReport
from spark_jobs.protocol.ports import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.lease import Custody
from spark_jobs.protocol.runs.run_lifecycle import enter, take_over
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.forward import Swapping
from spark_jobs.protocol.swap.reverse import Returning
from spark_jobs.protocol.swap.swap_executor import Executor, Policy, Verdict

log = logging.getLogger("lakekeeper")


#: So often a server may fail in the middle of a recovery; then the next job goes on.
_ATTEMPTS = 3


@dataclass
class Settled:
    """A run at rest: `ready` units are written, verified and still before their swap; `stuck` ones stay open, and of
    the others `verdicts` tells by unit key how they were brought to an end. `doubtful`: a call failed, and the server
    may still carry it out."""

    run: Run
    ready: list[Swap] = field(default_factory=list)
    stuck: list[UnitReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    doubtful: bool = False


class Settlement:
    """Takes one run folder over and brings every open unit of it to an end, or leaves it alone and says so."""

    def __init__(self, cluster: Services, custody: Custody, policy: Policy, verb: str) -> None:
        self.policy = policy
        self._cluster = cluster
        self._custody = custody
        self._verb = verb

    def run(self, found: Run, resume: bool = False) -> Settled:
        """`resume` keeps what is ready to be swapped; else it is discarded. The lease must be held."""
        settled, verdicts = self._run(found, resume), {}
        for _ in range(_ATTEMPTS - 1):
            if not settled.doubtful:
                break
            verdicts.update(settled.verdicts)
            settled = self._run(settled.run, resume)
        settled.verdicts = {**verdicts, **settled.verdicts}
        return settled

    def _run(self, found: Run, resume: bool) -> Settled:
        """Under the folder's new name nothing that a server is late with finds its way any more."""
        taken = take_over(self._cluster.fs, found)
        self._make_folders(taken)
        settled = Settled(enter(taken, self._custody, self._verb))
        for unit in settled.run.state.units.values():
            self._unit(settled, unit, resume)
        self._clear(settled)
        return settled

    def _make_folders(self, run: Run) -> None:
        """Every folder that a rename may need is made here, before the record that a fenced attempt cannot write."""
        open_units = [unit.swap for unit in run.state.of_kind(*journal.INTENTS)]
        needed = {parent(run.path(path)) for swap in open_units for path in (swap.aside, swap.old)}
        for folder in sorted(needed):
            self._cluster.fs.mkdirs(folder)

    def _unit(self, settled: Settled, unit: UnitState, resume: bool) -> None:
        if unit.kind not in journal.INTENTS:
            self._executor(settled.run, unit).tidy(unit.swap)
            return
        try:
            self._open_unit(settled, unit, resume)
        except FileSystemError as error:
            settled.doubtful = True
            settled.stuck.append(stuck_report(unit.swap, error))
        except (LakekeeperError, OSError) as error:
            settled.stuck.append(stuck_report(unit.swap, error))

    def _open_unit(self, settled: Settled, unit: UnitState, resume: bool) -> None:
        executor, swap = self._executor(settled.run, unit), unit.swap
        where = executor.places(swap).look()
        if resume and unit.kind == journal.PREPARED and where is Where.BEFORE:
            settled.ready.append(swap)
            return
        verdict = executor.settle(swap)
        record(settled.run, executor, swap, verdict)
        settled.verdicts[swap.unit.key] = verdict
        settled.notes.append(
            f"{swap.unit}: run {settled.run.run_id} had stopped {where.value}; {_now(verdict)}"
        )
        log.info(settled.notes[-1])

    def _executor(self, run: Run, unit: UnitState) -> Executor:
        backwards = unit.kind in (journal.ROLLBACK_PREPARED, journal.ROLLED_BACK)
        return (Returning if backwards else Swapping)(self._cluster, run, self.policy)

    def _clear(self, settled: Settled) -> None:
        """What was written and never prepared: it never was live, and lies in a folder that is ours alone."""
        kept = {settled.run.path(unit.swap.new) for unit in settled.run.state.units.values()}
        for entry in self._cluster.fs.list(settled.run.folder):
            if entry.is_dir and entry.name.startswith("__compact_tmp_"):
                self._prune(entry.path, kept)

    def _prune(self, folder: str, kept: set[str]) -> None:
        if folder in kept:
            return
        if not any(is_below(path, folder) for path in kept):
            self._cluster.fs.delete_tree(folder)
            return
        for entry in self._cluster.fs.list(folder):
            if entry.is_dir:
                self._prune(entry.path, kept)


def record(run: Run, executor: Executor, swap: Swap, verdict: Verdict) -> None:
    """Journals the verdict, and only then deletes what is of no use any more: a crash in between is tidied up later."""
    run.journal.append(verdict.kind, units=[verdict.body(swap)])
    if verdict.kind != journal.COMMITTED or verdict.problem:
        executor.tidy(swap)


def stuck_report(swap: Swap, error: Exception) -> UnitReport:
    """A line for a unit whose intent stays open: only what nobody can settle by himself needs a person."""
    outcome = "quarantined" if isinstance(error, Unsafe) else "failed"
    code = error.code if isinstance(error, Refusal) else None
    return UnitReport.of(swap.unit.to_json(), outcome, code=code, reason=str(error))


def unfinished(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.state.unfinished]


_NOW = {
    journal.COMMITTED: "it is compacted",
    journal.DISCARDED: "it is as it was",
    journal.ROLLED_BACK: "its originals are back",
}


def _now(verdict: Verdict) -> str:
    return f"{_NOW[verdict.kind]}{f' ({verdict.problem})' if verdict.problem else ''}"
