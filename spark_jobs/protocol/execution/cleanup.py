"""Cleans a run up: deletes its originals for good, and only them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spark_jobs.core import journal, layout
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.layout import HOME, is_below
from spark_jobs.core.model import parent
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.wire import UnitReport
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.ports import FileSystemError, Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import list_unit
from spark_jobs.protocol.swap.late_files import differences, move_hidden_files

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class CleanupStep:
    """One unit of a cleanup and where its bytes went; `report` is set once its way has ended. `doubtful`: a call
    failed, and the server may still carry it out."""

    state: UnitState
    report: UnitReport | None = None
    freed: int = 0
    trashed: int = 0
    outcome_unknown: bool = False


class Cleanup:
    """Deletes the originals of one run folder. The run must have been `entered`; its folder gets another name where a
    server's answer left in doubt what it does."""

    def __init__(self, services: Services, run: Run, recovery: Recovery, skip_trash: bool) -> None:
        self.entered = run
        self._services = services
        self._recovery = recovery
        self._locations = locations = recovery.policy.locations
        self._skip_trash = skip_trash
        self._claimed = layout.claimed_folder(run.state.stamp)
        # Somebody may have pointed a partition at its backup by hand: then the backup is the table.
        self._inside = [place for place in locations.values() if f"/{HOME}" in place]

    def run(self, units: Sequence[UnitState], parallelism: int, dry_run: bool) -> list[CleanupStep]:
        """Waves of units side by side: one record before and one after serve a whole wave."""
        if not dry_run:
            self._check_trash()
        done: list[CleanupStep] = []
        wave = parallelism * 4
        with self._services.pool(parallelism) as pool:
            for start in range(0, len(units), wave):
                done += self._wave(pool, units[start : start + wave], dry_run)
        return done

    def _check_trash(self) -> None:
        """Known before anything is claimed: a claimed unit that cannot be deleted would be neither here nor there."""
        if not self._skip_trash and not self._services.fs.trash_enabled(self.entered.folder):
            raise LakekeeperError(
                "the trash is switched off (fs.trash.interval = 0); use --skip-trash to delete for good"
            )

    def _wave(self, pool: Pool, units: Sequence[UnitState], dry_run: bool) -> list[CleanupStep]:
        items = list(pool.map(self._step(self._check), map(CleanupStep, units)))
        if dry_run:
            return [item if item.report else self._would(item) for item in items]
        self._journal(journal.CLEANUP_CLAIMED, items)
        items = list(pool.map(self._step(self._clean), items))
        cleaned = [item for item in items if item.report and item.report.outcome == UnitOutcome.CLEANED]
        self._journal(journal.CLEANED, [replace(item, report=None) for item in cleaned])
        if any(item.outcome_unknown for item in items):
            # What was claimed or deleted late must not meet a rollback that puts it back.
            self.entered = self._recovery.run(self.entered).run
        for item in items:
            log.info("%s: %s", item.state.swap.unit, item.report.outcome if item.report else "")
        return items

    def _step(self, act: Callable[[CleanupStep], CleanupStep]) -> Callable[[CleanupStep], CleanupStep]:
        """One unit that cannot be cleaned must not stop the others."""

        def guarded(item: CleanupStep) -> CleanupStep:
            if item.report:
                return item
            try:
                return act(item)
            except Unsafe as error:
                return replace(item, report=_report(item.state.swap, UnitOutcome.QUARANTINED, str(error)))
            except FileSystemError as error:
                return replace(
                    item,
                    report=_report(item.state.swap, UnitOutcome.FAILED, str(error)),
                    outcome_unknown=True,
                )
            except (LakekeeperError, OSError) as error:
                return replace(item, report=_report(item.state.swap, UnitOutcome.FAILED, str(error)))

        return guarded

    def _journal(self, kind: str, items: Sequence[CleanupStep]) -> None:
        units = [{"unit": item.state.swap.unit.key} for item in items if not item.report]
        if units:
            self.entered.journal.append(kind, units=units)

    def _would(self, item: CleanupStep) -> CleanupStep:
        report = _report(item.state.swap, UnitOutcome.FLAGGED, "dry run: its originals would be deleted")
        return replace(item, report=report)

    def _place(self, swap: Swap) -> str:
        below = swap.old.split("/", 1)[1]
        return self.entered.path(f"{self._claimed}/{below}")

    def _check(self, item: CleanupStep) -> CleanupStep:
        """The originals may go only if they are exactly what the journal lists and the table does without them."""
        swap, fs = item.state.swap, self._services.fs
        old = self.entered.path(swap.old)
        if item.state.kind == journal.CLEANUP_CLAIMED and fs.status(old) is None:
            if fs.status(self._place(swap)) is not None:
                self._check_unused(swap, self._place(swap))  # guard: claimed_unused
            return item
        if fs.identity(old) != swap.live_id:  # guard: cleanup_identity
            raise Unsafe(f"{old} is not the directory that the journal names; nothing was deleted")
        changes = differences(swap.originals, list_unit(fs, old))
        if changes:  # guard: cleanup_manifest
            raise Unsafe(f"{old} differs from its manifest ({changes}); nothing was deleted")
        self._check_unused(swap, old)
        fs.mkdirs(parent(self._place(swap)))
        return item

    def _check_unused(self, swap: Swap, old: str) -> None:
        for place in self._inside:
            if place == old or is_below(place, old) or is_below(old, place):
                raise Unsafe(f"the metastore reads {place}, which is this backup; nothing was deleted")
        now = self._locations.get(swap.unit.key)
        # guard: cleanup_live_renamed
        if now is None and swap.live in self._locations.values():
            now = swap.live
        elif now is None and self._services.fs.status(swap.live) is None:
            now = self._by_identity.get(swap.new_id)  # guard: cleanup_live_moved
        if now is not None:
            self._check_live(swap, old, now)

    @cached_property
    def _by_identity(self) -> dict[str | None, str]:
        """Where the metastore's directories are: one call for each, for runs that ask for it."""
        return {self._services.fs.identity(place): place for place in self._locations.values()}

    def _check_live(self, swap: Swap, old: str, place: str) -> None:
        """The originals must not be the only copy of anything that nobody has replaced. The partition may have been
        moved since, to an archive: what it was is where the metastore has it now."""
        try:
            live = self._services.fs.manifest(place)
        except FileNotFoundError:
            # guard: cleanup_live_missing
            raise Unsafe(
                f"{place} is missing although the metastore has it; its originals in {old} are kept"
            ) from None
        if not live.data:  # guard: cleanup_live_empty
            raise Unsafe(
                f"{place} holds no data any more; the originals in {old} are the only copy, and are kept: roll the"
                " run back, or write to the table what it should hold"
            )
        if self._recovery.policy.writers == "overwrite":
            return
        if not any(file.length for file in live.data):  # guard: cleanup_live_empty_files
            raise Unsafe(
                f"{place} holds only empty files; the originals in {old} are the only copy, and are kept. If writers of"
                " this table overwrite it in place, say so: lakekeeper.writers=overwrite"
            )
        lost = [file.name for file in differences(swap.compacted, live).lost if file.is_data]
        if lost and self._services.fs.identity(place) == swap.new_id:  # guard: cleanup_live_incomplete
            raise Unsafe(
                f"{lost[0]}, which the run wrote to {place}, is gone or changed; the originals in {old} are kept."
                " If writers of this table overwrite it in place, say so: lakekeeper.writers=overwrite"
            )

    def _clean(self, item: CleanupStep) -> CleanupStep:
        """Claims by a rename, then deletes: a crash in between goes on from the claim."""
        swap, fs = item.state.swap, self._services.fs
        claimed = self._place(swap)
        if fs.status(self.entered.path(swap.old)) is not None:
            fs.move(self.entered.path(swap.old), claimed, swap.live_id)
        present = fs.status(claimed) is not None
        if present and swap.live in self._locations.values():
            move_hidden_files(fs, claimed, swap.live)  # guard: hidden_files_back
        trashed = present and self._delete(swap, claimed)
        report = replace(_report(swap, UnitOutcome.CLEANED), files_after=0, bytes_after=0)
        size = swap.originals.bytes
        return replace(item, report=report, freed=0 if trashed else size, trashed=size if trashed else 0)

    def _delete(self, swap: Swap, folder: str) -> bool:
        """True if the folder went to the trash. An earlier, interrupted deletion may have left a part of it."""
        present = list_unit(self._services.fs, folder)
        known = swap.originals.files
        unknown = [file.name for file in present.files if file not in known and not file.is_flag]
        if unknown:  # guard: cleanup_unknown_file
            raise Unsafe(f"{folder} holds {unknown[0]}, which its manifest does not list; it was not deleted")
        try:
            if self._skip_trash:
                self._services.fs.delete_tree(folder)
            elif not self._services.fs.trash(folder):
                raise LakekeeperError(f"{folder} could not be moved to the trash")
        except OSError:
            if self._services.fs.status(folder) is not None:
                raise
        return not self._skip_trash

    def release(self, units: Sequence[UnitState]) -> None:
        """Gives back what a cleanup claimed and did not delete, so that it can still be rolled back."""
        for state in units:
            swap, fs = state.swap, self._services.fs
            claimed = self._place(swap)
            whole = fs.identity(claimed) == swap.live_id and not differences(
                swap.originals, list_unit(fs, claimed)
            )
            if whole:
                fs.mkdirs(parent(self.entered.path(swap.old)))
                fs.move(claimed, self.entered.path(swap.old), swap.live_id)
            if whole or fs.identity(self.entered.path(swap.old)) == swap.live_id:
                self.entered.journal.append(journal.COMMITTED, units=[{"unit": swap.unit.key}])


def _report(swap: Swap, outcome: UnitOutcome, reason: str | None = None) -> UnitReport:
    return UnitReport(
        swap.unit.to_json(),
        outcome,
        reason=reason,
        files=len(swap.originals.files),
        bytes=swap.originals.bytes,
    )
