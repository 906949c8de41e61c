"""The state machine that the forward and the reverse swap have in common.

It loops: read the state of the swap, carry out the one action of this state, read the state again. A first attempt, an
error in the middle and the recovery of a killed process take the same path. No directory is created here, unless a
journal record follows before the next rename: an attempt that was fenced off fails at that record.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Optional, Union

from spark_jobs.core import journal
from spark_jobs.core.errors import Held, LakekeeperError, Unsafe
from spark_jobs.core.journal import Swap
from spark_jobs.core.model import FileListing
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.swap_state import SwapState
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import SwapPaths
from spark_jobs.protocol.swap.late_files import delete_own_files, move_conflicting_files, move_late_files

log = logging.getLogger("lakekeeper")

#: More iterations than the longest path through the states; beyond that, a writer keeps interfering.
_LOOKS = 16
#: An error may be a lost answer, or a race lost to a writer: the next state tells. This many errors are neither.
_ERRORS = 3
_QUIET_SECONDS = 5.0
_QUIET_LOOKS = 12


@dataclass(frozen=True)
class SwapPolicy:
    """What a swap may assume.

    Attributes:
        locations: the metastore's locations by unit key, as of the start of the job.
        writers: how writers of this table treat a directory that they recreate (`append`, `overwrite`; None: unknown).
        ask: reads the locations again.
        footers: files have footers, so that one that was closed is never opened again.
        rules: which files of other writers are pending.
    """

    locations: Mapping[str, str] = field(default_factory=dict)
    writers: str | None = None
    ask: Callable[[], Mapping[str, str]] | None = None
    footers: bool = True
    rules: WriterRules = field(default_factory=WriterRules)

    def registered(self, swap: Swap) -> bool:
        """Return whether the metastore had the unit at its live path at the start of the job."""
        return self.locations.get(swap.unit.key) == swap.live

    def still_registered(self, swap: Swap) -> bool:
        """Return whether it has now; where the metastore does not answer, what it said before counts."""
        try:
            paths = self.ask() if self.ask else self.locations
        except LakekeeperError as error:
            log.warning("the metastore does not answer: %s", error)
            paths = self.locations
        return paths.get(swap.unit.key) == swap.live


@dataclass(frozen=True)
class SwapResult:
    """How a swap ended.

    Attributes:
        kind: of the record to journal.
        problem: why it did not end as intended; None where it did.
        moved_files: data files of other writers that were moved into the live directory.
        originals, live_id: what is in `old`, where that is not what was prepared.
        failed: it was called off by an error, not by a writer.
    """

    kind: str
    problem: str | None = None
    moved_files: int = 0
    originals: FileListing | None = None
    live_id: str | None = None
    failed: bool = False

    def body(self, swap: Swap) -> dict[str, object]:
        """Return the unit's part of the record."""
        known = {"originals": self.originals.to_json()} if self.originals else {}
        return {"unit": swap.unit.key, **known, **({"live_id": self.live_id} if self.live_id else {})}


#: The action of a state. It returns the result, or the reason to reverse the swap, or None to read the state again.
Action = Callable[[SwapPaths, Optional[str]], Union[SwapResult, str, None]]


class SwapExecutor(ABC):
    """Renames the directories of one run."""

    def __init__(self, services: Services, run: Run, policy: SwapPolicy) -> None:
        self._services = services
        self._fs = services.fs
        self._run = run
        self._policy = policy

    @abstractmethod
    def _actions(self) -> Mapping[SwapState, Action]:
        """Return the action of each state; a state that is missing here needs a person."""

    def finish(self, swap: Swap, problem: str | None = None) -> SwapResult:
        """Bring the swap to an end from whatever state it is in; `problem` is a reason to reverse it.

        Raises:
            Held: a writer is active; the intent stays open for the next job.
            Unsafe: the state needs a person.
            FileSystemError: the effect of a call is unknown; the run's directory must be renamed before the state is
                read again, for the server may still carry the call out.
            OSError: the intent stays open.
        """
        paths, errors = self.paths(swap), 0
        for _ in range(_LOOKS):
            where = paths.look()
            act = self._actions().get(where)
            if act is None:
                raise paths.explain(where)
            try:
                found = act(paths, problem)
                if isinstance(found, SwapResult):
                    # guard: conflicts_carried
                    return replace(found, moved_files=found.moved_files + self._move_conflicting_files(paths))
            except FileSystemError:
                raise  # guard: late_rename_fenced
            except OSError as error:
                log.warning("%s: %s", swap.unit, error)
                errors += 1
                if errors == _ERRORS:
                    raise  # guard: intent_stays_open
                continue
            problem = found or problem
        raise Held(f"{swap.live} keeps changing: a writer is at work in it; the next run resolves it")

    def paths(self, swap: Swap) -> SwapPaths:
        return SwapPaths(self._fs, self._run.folder, swap)

    def delete_rewritten(self, swap: Swap) -> None:
        """Delete the rewritten directory when it is not needed any more: only files of this run that are unchanged."""
        paths = self.paths(swap)
        for folder in (paths.new, paths.aside):
            try:
                clear = delete_own_files(self._fs, swap.compacted, folder)
            except OSError as error:
                log.warning("%s is left behind: %s", folder, error)
                continue
            if not clear:
                log.warning("%s is left behind: it holds what this run did not write", folder)

    def _move_late_files(self, paths: SwapPaths, source: str) -> int:
        """Move files that were added to the rewritten directory into the live one; return how many are data."""
        return move_late_files(self._fs, paths.swap.compacted, source, paths.live)  # guard: carry_appended

    def _move_conflicting_files(self, paths: SwapPaths) -> int:
        """Move files that appenders wrote between the renames into the live directory, however the swap ended."""
        if self._fs.identity(paths.live) is None:
            return 0
        return move_conflicting_files(self._fs, paths.conflict, paths.live)

    def _move_files_when_quiet(self, paths: SwapPaths, folder: str, known: FileListing) -> int:
        """Move files that were added to a directory into the live one; raise Held while a writer is active there."""
        busy = self._busy(paths, folder, known)
        if busy:
            raise Held(f"a writer is at work in {folder} ({busy}); the next run resolves it")
        return move_late_files(self._fs, known, folder, paths.live)

    def _busy(self, paths: SwapPaths, folder: str, known: FileListing) -> str | None:
        """Return the name of a file of an active writer. A file without a footer that was opened again looks unchanged
        until something is flushed, so that HDFS is asked about each one."""
        # guard: reopened_files
        return paths.at_work(folder, known if self._policy.footers else FileListing(()))

    def _put_back(self, paths: SwapPaths, _: str | None) -> None:
        """A writer's directory was moved aside in place of ours: move it back."""
        self._fs.rename(paths.aside, paths.live)

    def _aside(self, paths: SwapPaths, problem: str | None) -> str:
        self._fs.move(paths.live, paths.aside, paths.swap.new_id)
        return problem or overwritten(paths)

    def _old_back(self, paths: SwapPaths, problem: str | None) -> str:
        """The directory in `old` is not the planned one but a writer's: move it back."""
        self._fs.rename(paths.old, paths.live)
        return problem or overwritten(paths)

    def _overwrites(self, paths: SwapPaths) -> bool:
        """Return whether a directory that a writer recreated replaces the table's content: the table property says."""
        if self._policy.writers in ("append", "overwrite"):  # guard: unknown_writers_refused
            return self._policy.writers == "overwrite"
        raise Unsafe(
            f"a writer recreated {paths.live} between the renames, and 'lakekeeper.writers' does not say whether"
            f" writers of this table append or overwrite; all is kept: the originals in {paths.old},"
            f" the rewritten files in {paths.rewritten()}"
        )

    def _recreated(self, paths: SwapPaths, _: str | None) -> SwapResult | None:
        """A writer recreated the live directory between the renames."""
        if self._overwrites(paths):
            return self._theirs(paths)
        self._wait_until_quiet(paths)
        number = self._next_conflict(paths.conflict)
        self._fs.mkdirs(paths.conflict)
        # A fenced attempt fails here, and so never moves a live directory into a folder that nobody looks at.
        self._run.journal.append(journal.CONFLICT, units=[{"unit": paths.swap.unit.key}])
        self._fs.rename(paths.live, f"{paths.conflict}/{number}")
        return None

    def _next_conflict(self, folder: str) -> int:
        """Return a number above all that are in use: a directory that could not be emptied stays."""
        try:
            return max((int(entry.name) for entry in self._fs.list(folder)), default=-1) + 1
        except FileNotFoundError:
            return 0

    def _wait_until_quiet(self, paths: SwapPaths) -> None:
        before = None
        for _ in range(_QUIET_LOOKS):
            now = None if paths.at_work(paths.live, FileListing(())) else self._fs.list_files(paths.live)
            if now is not None and now == before:
                return
            before = now
            self._services.clock.sleep(_QUIET_SECONDS)
        raise Held(f"a writer recreated {paths.live} and is still at work in it; the next run resolves it")

    def _superseded(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """Where writers append, files that they added to the originals before are part of the table as well."""
        appended = self._policy.writers == "append"
        moved_files = self._move_files_when_quiet(paths, paths.old, paths.swap.originals) if appended else 0
        return replace(self._theirs(paths), moved_files=moved_files)

    def _theirs(self, paths: SwapPaths) -> SwapResult:
        """The writer's directory is the table now; what is in `old` is kept until a cleanup."""
        swap, here = paths.swap, self._fs.list_files(paths.old)
        identity = self._fs.identity(paths.old)
        return SwapResult(
            journal.COMMITTED,
            overwritten(paths),
            originals=here if swap.originals.diff(here) else None,
            live_id=identity if identity != swap.live_id else None,
        )


def overwritten(paths: SwapPaths) -> str:
    return f"{paths.live} was overwritten by somebody"
