"""Cleans a run up: deletes its originals for good, and only them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from spark_jobs.core import journal, layout
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.model import parent
from spark_jobs.core.wire import UnitReport
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.restoration import layout_relative
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class Retired:
    """One cleaned unit and where its bytes went."""

    report: UnitReport
    freed: int = 0
    trashed: int = 0


class Retirement:
    """Deletes the originals of one run folder."""

    def __init__(self, cluster: Cluster, run: Run, locations: dict[str, str], skip_trash: bool) -> None:
        self._cluster = cluster
        self._run = run
        self._locations = locations
        self._skip_trash = skip_trash
        self._claimed = layout.claimed_folder(str(int(run.state.started.timestamp())))

    def run(self, units: Sequence[UnitState], parallelism: int, dry_run: bool) -> list[Retired]:
        act = self._would if dry_run else self._clean
        with ThreadPoolExecutor(parallelism) as pool:
            return list(pool.map(lambda state: self._guarded(state, act), units))

    def _guarded(self, state: UnitState, act: Callable[[UnitState], Retired]) -> Retired:
        try:
            retired = act(state)
        except Unsafe as error:
            retired = Retired(self._report(state.swap, "quarantined", str(error)))
        except (LakekeeperError, OSError) as error:
            retired = Retired(self._report(state.swap, "failed", str(error)))
        log.info("%s: %s %s", state.swap.unit, retired.report.outcome, retired.report.reason or "")
        return retired

    def _report(self, swap: Swap, outcome: str, reason: str | None = None) -> UnitReport:
        return UnitReport(
            swap.unit.to_json(),
            outcome,
            reason=reason,
            files=len(swap.originals.files),
            bytes=swap.originals.bytes,
        )

    def _would(self, state: UnitState) -> Retired:
        if state.kind != journal.CLEANUP_CLAIMED:
            self._check(state.swap)
        return Retired(self._report(state.swap, "nothing", "dry run: its originals would be deleted"))

    def _clean(self, state: UnitState) -> Retired:
        """Checks, claims by a journaled rename, then deletes: a crash in between resumes from the claim."""
        swap, fs = state.swap, self._cluster.fs
        claimed = self._run.path(f"{self._claimed}/{layout_relative(swap)}")
        if state.kind != journal.CLEANUP_CLAIMED or fs.status(self._run.path(swap.old)) is not None:
            self._check(swap)
            fs.mkdirs(parent(claimed))
            self._journal(journal.CLEANUP_CLAIMED, swap)
            fs.rename(self._run.path(swap.old), claimed)
        return self._delete_claimed(swap, claimed)

    def _delete_claimed(self, swap: Swap, claimed: str) -> Retired:
        trashed = self._cluster.fs.status(claimed) is not None and self._delete(swap, claimed)
        self._journal(journal.CLEANED, swap)
        size = swap.originals.bytes
        report = replace(self._report(swap, "cleaned"), files_after=0, bytes_after=0)
        return Retired(report, freed=0 if trashed else size, trashed=size if trashed else 0)

    def _check(self, swap: Swap) -> None:
        """The originals may go only if they are exactly what the journal lists and the table does without them."""
        old = self._run.path(swap.old)
        if self._cluster.fs.identity(old) != swap.live_id:
            raise Unsafe(f"{old} is not the directory that the journal names; nothing was deleted")
        changes = swap.originals.diff(list_unit(self._cluster.fs, old))
        if changes:
            raise Unsafe(f"{old} differs from its manifest ({changes}); nothing was deleted")
        if self._cluster.fs.status(swap.live) is None and swap.unit.key in self._locations:
            raise Unsafe(
                f"{swap.live} is missing although the metastore has it; its originals in {old} are kept"
            )

    def _delete(self, swap: Swap, folder: str) -> bool:
        """True if the folder went to the trash. An earlier, interrupted deletion may have left a part of it,
        and nothing new."""
        present = list_unit(self._cluster.fs, folder)
        unknown = [file.name for file in present.files if file not in swap.originals.files]
        if unknown:
            raise Unsafe(f"{folder} holds {unknown[0]}, which its manifest does not list; it was not deleted")
        if self._skip_trash:
            self._cluster.fs.delete_tree(folder)
            return False
        if not self._cluster.fs.trash(folder):
            raise LakekeeperError(
                "the trash is switched off (fs.trash.interval = 0); use --skip-trash to delete for good"
            )
        return True

    def _journal(self, kind: str, swap: Swap) -> None:
        self._run.journal.append(kind, units=[{"unit": swap.unit.key}])
