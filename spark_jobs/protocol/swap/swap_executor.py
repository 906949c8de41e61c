"""The state machine that the forward and the reverse swap have in common.

It loops: read the state of the swap, run the one action of this state, read the state again. A first attempt, an error
during the swap and the recovery of a killed process take the same path. A directory is created here only if a journal
record follows before the next rename: an attempt that was fenced off fails at that record.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Optional, Union

from spark_jobs.core.messages.errors import Unsafe, WriterActive
from spark_jobs.core.records import journal
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values.layout import is_below
from spark_jobs.core.values.model import FileListing, parent
from spark_jobs.core.values.numbered_names import PLAIN, following
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import Blocker, SwapPaths
from spark_jobs.protocol.swap.late_files import move_conflicting_files, move_late_files
from spark_jobs.protocol.swap.moved_unit import rows_only_in_originals
from spark_jobs.protocol.swap.policy import SwapPolicy

log = logging.getLogger("lakekeeper")

#: More iterations than the longest path through the states has. Beyond that, a writer keeps interfering.
_MAX_ITERATIONS = 16
#: An error may be a lost answer, or a lost race with a writer: the next state shows it. This many errors are neither.
_MAX_ERRORS = 3
_NUMBER = re.compile(rf"(0|{PLAIN})\Z")
_QUIET_SECONDS = 5.0
_QUIET_CHECKS = 12


@dataclass(frozen=True)
class SwapResult:
    """The result of a swap.

    Attributes:
        kind: the kind of the record to journal.
        problem: why the swap did not end as intended, or None.
        moved_files: the number of data files of other writers that were moved into the live directory.
        originals, live_id: the listing and identity of what is in `old`, if they are not those that were prepared.
        failed: the swap was called off by an error, not by a writer.
        dropped: the metastore does not have the unit any more, and only the originals have its rows.
    """

    kind: str
    problem: str | None = None
    moved_files: int = 0
    originals: FileListing | None = None
    live_id: str | None = None
    failed: bool = False
    dropped: bool = False

    def body(self, swap: Swap) -> dict[str, object]:
        """Return the unit's part of the journal record."""
        known = {"originals": self.originals.to_json()} if self.originals else {}
        other = {"live_id": self.live_id} if self.live_id else {}
        return {"unit": swap.unit.key, **known, **other, **({"dropped": True} if self.dropped else {})}


#: The action of a state. It returns the result, or a reason to reverse the swap, or None to read the state again.
Action = Callable[[SwapPaths, Optional[str]], Union[SwapResult, str, None]]


class SwapExecutor(ABC):
    """Base of the forward and the reverse swap, which rename the directories of one run."""

    def __init__(self, services: Services, run: Run, policy: SwapPolicy) -> None:
        self._services = services
        self._fs = services.fs
        self._run = run
        self._policy = policy

    @abstractmethod
    def _actions(self) -> Mapping[SwapState, Action]:
        """Return the action of each state. A state without an action must be resolved by a person."""

    def has_rule(self, where: SwapState) -> bool:
        """Tell whether a job finishes the swap from this state; otherwise a person must end it."""
        return where in self._actions()

    def finish(self, swap: Swap, problem: str | None = None) -> SwapResult:
        """Complete or reverse the swap from whatever state it is in.

        Args:
            problem: a reason to reverse the swap.

        Raises:
            WriterActive: a writer is active. The intent stays open for the next job.
            Unsafe: a person must resolve the state.
            FileSystemError: the effect of a call is unknown. The run's directory must be renamed before the state is
                read again, because the server may still execute the call.
            OSError: calls failed repeatedly. The intent stays open.
        """
        paths, errors = self.paths(swap), 0
        for _ in range(_MAX_ITERATIONS):
            where = paths.look()
            act = self._actions().get(where)
            if act is None:
                raise paths.explain(where)
            try:
                result = act(paths, problem)
                if isinstance(result, SwapResult):
                    # guard: conflicts_carried
                    return replace(
                        result, moved_files=result.moved_files + self._move_conflicting_files(paths)
                    )
            except FileSystemError:
                raise  # guard: late_rename_fenced
            except OSError as error:
                log.warning("%s: %s", swap.unit, error)
                errors += 1
                if errors == _MAX_ERRORS:
                    raise  # guard: intent_stays_open
                if isinstance(error, FileNotFoundError):
                    self._make_above(paths)
                continue
            problem = result or problem
        raise WriterActive(f"{swap.live} keeps changing: a writer is active in it; the next run resolves it")

    def _make_above(self, paths: SwapPaths) -> None:
        """Make the directories above the live one again, if somebody has deleted them while it was away.

        The metastore does so when it drops a partition of several keys and deletes its files (`external.table.purge`):
        each directory above it goes that is empty. An attempt that was fenced off may make them too, as long as the
        home is there, and moves nothing into them: its own directories have other names by then.
        """
        base = parent(parent(self._run.directory))
        try:
            if self._fs.status(base):
                self._make(parent(paths.live), parent(paths.old), base)
        except OSError as error:  # The next look shows what is there.
            log.warning("%s: %s", paths.swap.unit, error)

    def _make(self, directory: str, like: str, base: str) -> None:
        """Make a directory below `base`, with the attributes that it had: those of `like`, above the originals."""
        if not is_below(directory, base) or self._fs.status(directory):
            return
        self._make(parent(directory), parent(like), base)
        # Not found by an attempt that was fenced off, which so makes nothing.
        attributes = self._fs.attributes(like)
        log.warning("somebody has deleted %s; it is made again", directory)
        self._fs.mkdirs(directory)  # guard: parents_made_again
        self._fs.set_attributes(directory, attributes)

    def paths(self, swap: Swap) -> SwapPaths:
        return SwapPaths(self._fs, self._run.directory, swap)

    def _move_late_files(self, paths: SwapPaths, source: str, here: FileListing | None = None) -> int:
        """Move files that were added to the rewritten directory into the live one. Return the number of data files.

        Args:
            here: the files in `source`, if they were listed just now.
        """
        ours = paths.swap.compacted
        return move_late_files(self._fs, ours, source, paths.live, here)  # guard: carry_appended

    def _move_conflicting_files(self, paths: SwapPaths) -> int:
        """Move files that appenders wrote between the renames into the live directory, however the swap ended.

        Return the number of data files among them.
        """
        return move_conflicting_files(self._fs, paths.conflict, paths.live)

    def _move_files_when_quiet(self, paths: SwapPaths, directory: str, known: FileListing) -> int:
        """Move files that were added to a directory into the live one. Return the number of data files among them.

        Raises:
            WriterActive: a writer is active in the directory.
        """
        files = self._find_blocker(paths, directory, known)
        if isinstance(files, Blocker):
            raise WriterActive(str(files))
        return move_late_files(self._fs, known, directory, paths.live, files)

    def _find_blocker(self, paths: SwapPaths, directory: str, known: FileListing) -> Blocker | FileListing:
        """Return what keeps the files of a directory from being moved, or else its files.

        A file without a footer that was opened again looks unchanged until something is flushed, so that HDFS is asked
        about each file.
        """
        # guard: reopened_files
        return paths.find_blocker(directory, known if self._policy.footers else FileListing(()))

    def _move_aside_to_live(self, paths: SwapPaths, _: str | None) -> None:
        """Move a writer's directory back, which was moved to `aside` instead of the rewritten one."""
        self._fs.rename(paths.aside, paths.live)

    def _move_live_to_aside(self, paths: SwapPaths, problem: str | None) -> str:
        """Move the rewritten directory aside: a writer replaced the directory right before it was moved to `old`."""
        self._fs.move(paths.live, paths.aside, paths.swap.new_id)
        return problem or overwritten(paths)

    def _move_old_to_live(self, paths: SwapPaths, problem: str | None) -> str:
        """Move a writer's directory back, which was moved to `old` instead of the originals."""
        self._fs.rename(paths.old, paths.live)
        return problem or overwritten(paths)

    def _writers_overwrite(self, paths: SwapPaths) -> bool:
        """Return whether a directory that a writer recreated replaces the table's content.

        Raises:
            Unsafe: the table property `lakekeeper.writers` does not say so.
        """
        if self._policy.writers in ("append", "overwrite"):  # guard: unknown_writers_refused
            return self._policy.writers == "overwrite"
        raise Unsafe(
            f"a writer recreated {paths.live} during the swap, and 'lakekeeper.writers' does not say whether"
            f" writers of this table append or overwrite. {self._policy.writers_advice()}; all files are kept, in"
            f" {paths.live}, {paths.old} and {paths.rewritten()}"
        )

    def _resolve_recreated(self, paths: SwapPaths, _: str | None) -> SwapResult | None:
        """Accept the directory that a writer recreated between the renames, or move it to `conflict`.

        It is accepted as the table where writers overwrite. Where they append, the swap continues, and the files in
        `conflict` are moved into the live directory at its end.
        """
        if self._writers_overwrite(paths):
            return self._overwritten_result(paths)
        self._wait_until_quiet(paths)
        number = self._next_conflict_number(paths.conflict)
        WorkingDirectories(self._fs).create_above(paths.conflict, self._run.directory, paths.live)
        self._fs.mkdirs(paths.conflict)
        # A fenced attempt fails here. So it never moves a live directory into a directory that no job reads.
        self._run.journal.append(journal.CONFLICT, units=[{"unit": paths.swap.unit.key}])
        self._fs.rename(paths.live, f"{paths.conflict}/{number}")
        return None

    def _next_conflict_number(self, directory: str) -> int:
        """Return a number above all that are in use, because a directory that could not be emptied is kept."""
        try:
            numbers = [int(entry.name) for entry in self._fs.list(directory) if _NUMBER.match(entry.name)]
        except FileNotFoundError:
            return 0
        return following(max(numbers, default=-1), directory)

    def _wait_until_quiet(self, paths: SwapPaths) -> None:
        before = files = None
        for _ in range(_QUIET_CHECKS):
            files = paths.find_blocker(paths.live, FileListing(()))
            if isinstance(files, FileListing) and files == before:
                return
            before = files
            self._services.clock.sleep(_QUIET_SECONDS)
        active = files if isinstance(files, Blocker) else _changing(paths)
        raise WriterActive(f"a writer recreated {paths.live} during the swap, and {active}")

    def _commit_foreign_live(self, paths: SwapPaths, _: str | None) -> SwapResult:
        """Commit the swap after a writer has replaced the rewritten directory.

        Where writers append, files that they added to the originals before are part of the table as well.
        """
        appended = self._policy.writers == "append"
        moved_files = self._move_files_when_quiet(paths, paths.old, paths.swap.originals) if appended else 0
        return replace(self._overwritten_result(paths), moved_files=moved_files)

    def _dropped_result(self, paths: SwapPaths) -> SwapResult:
        """Return the result of a swap whose unit the metastore does not have any more, and whose rows somebody deleted.

        No job deletes a rewritten directory before the record that ends its swap. So it is not there because a person,
        or a drop with purge, has deleted the rows: they do not come back by themselves. The originals are kept until a
        cleanup.
        """
        text = f"the metastore has no unit at {paths.live} any more, and somebody has deleted its directory"
        if not self._policy.dropped:
            table, run_id = self._policy.table, self._run.run_id
            text = f"{text}: {rows_only_in_originals(self._fs, table, paths.swap, run_id, paths.old)}"
        return replace(self._overwritten_result(paths, text), dropped=True)

    def _overwritten_result(self, paths: SwapPaths, problem: str | None = None) -> SwapResult:
        """Return the result of a swap after which the directory of a writer is the table.

        What is in `old` is kept until a cleanup.
        """
        swap, here = paths.swap, self._fs.list_files(paths.old)
        identity = self._fs.identity(paths.old)
        return SwapResult(
            journal.COMMITTED,
            problem or overwritten(paths),
            originals=here if swap.originals.diff(here) else None,
            live_id=identity if identity != swap.live_id else None,
        )


def _changing(paths: SwapPaths) -> str:
    return f"files of {paths.live} keep changing; the next run resolves it"


def overwritten(paths: SwapPaths) -> str:
    """Return the problem text for a live directory that a writer has overwritten."""
    return f"{paths.live} was overwritten by a writer"
