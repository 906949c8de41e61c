"""The only modules that swap directories: what swapping and returning have in common.

Each works in a loop: look where the directories are, do the one thing that this state asks for, look again. A fresh
start, an error in the middle and the remains of a killed process so take the same way. Nothing here makes a directory,
unless a journal record follows before the next rename: an attempt that was fenced off fails at that record.
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
from spark_jobs.protocol.ports import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import Directories
from spark_jobs.protocol.swap.late_files import delete_own_files, move_conflicting_files, move_late_files

log = logging.getLogger("lakekeeper")

#: More looks than any way through the states is long; then a writer keeps interfering.
_LOOKS = 16
#: An error may be a lost answer or a writer that was quicker: the next look tells. This many are not.
_ERRORS = 3
_QUIET_SECONDS = 5.0
_QUIET_LOOKS = 12


@dataclass(frozen=True)
class SwapPolicy:
    """What a swap may assume: `writers` is what writers of this table do (`append`, `overwrite`, None: unknown),
    `locations` are the metastore's own by unit key, as they were when the work began, and `ask` gets them anew; of
    formats without `footers`, writers open files again that have been closed; `rules` say which files writers still
    count on."""

    locations: Mapping[str, str] = field(default_factory=dict)
    writers: str | None = None
    ask: Callable[[], Mapping[str, str]] | None = None
    footers: bool = True
    rules: WriterRules = field(default_factory=WriterRules)

    def registered(self, swap: Swap) -> bool:
        """Did the metastore have the unit there when the work began?"""
        return self.locations.get(swap.unit.key) == swap.live

    def still_registered(self, swap: Swap) -> bool:
        """Does it now? Where it cannot be asked, what it said before must do."""
        try:
            places = self.ask() if self.ask else self.locations
        except LakekeeperError as error:
            log.warning("the metastore cannot be asked: %s", error)
            places = self.locations
        return places.get(swap.unit.key) == swap.live


@dataclass(frozen=True)
class SwapResult:
    """How a swap came to rest: the record to write, why it is not what was wanted, and how many files were carried.

    `originals` and `live_id` are what lies in `old` where that is not what was prepared; `failed`: called off by an
    error, not by a writer.
    """

    kind: str
    problem: str | None = None
    moved_files: int = 0
    originals: FileListing | None = None
    live_id: str | None = None
    failed: bool = False

    def body(self, swap: Swap) -> dict[str, object]:
        """The unit's part of the record."""
        known = {"originals": self.originals.to_json()} if self.originals else {}
        return {"unit": swap.unit.key, **known, **({"live_id": self.live_id} if self.live_id else {})}


#: What a state asks for: it returns the verdict, or why the intent is given up, or None to look again.
Action = Callable[[Directories, Optional[str]], Union[SwapResult, str, None]]


class SwapExecutor(ABC):
    """Moves the directories of one run folder."""

    def __init__(self, services: Services, run: Run, policy: SwapPolicy) -> None:
        self._services = services
        self._fs = services.fs
        self._run = run
        self._policy = policy

    @abstractmethod
    def _actions(self) -> Mapping[SwapState, Action]:
        """What each state asks for; a state that is missing here needs a person."""

    def finish(self, swap: Swap, problem: str | None = None) -> SwapResult:
        """Brings the swap to rest from wherever it stands; `problem` says why it must go back.

        Raises Held while a writer is at work, Unsafe for what only a person can settle, and OSError; the intent stays
        open then. After a FileSystemError the run's folder needs another name before anybody looks again: the server
        may still carry out what it answered with an error.
        """
        places, errors = self.places(swap), 0
        for _ in range(_LOOKS):
            where = places.look()
            act = self._actions().get(where)
            if act is None:
                raise places.explain(where)
            try:
                found = act(places, problem)
                if isinstance(found, SwapResult):
                    # guard: conflicts_carried
                    return replace(
                        found, moved_files=found.moved_files + self._move_conflicting_files(places)
                    )
            except FileSystemError:
                raise  # guard: late_rename_fenced
            except OSError as error:
                log.warning("%s: %s", swap.unit, error)
                errors += 1
                if errors == _ERRORS:
                    raise  # guard: intent_stays_open
                continue
            problem = found or problem
        raise Held(f"{swap.live} does not come to rest; a writer keeps changing it")

    def places(self, swap: Swap) -> Directories:
        return Directories(self._fs, self._run.folder, swap)

    def delete_rewritten(self, swap: Swap) -> None:
        """Deletes what was rewritten once it is of no use any more: our own unchanged files, never the live ones."""
        places = self.places(swap)
        for folder in (places.new, places.aside):
            try:
                clear = delete_own_files(self._fs, swap.compacted, folder)
            except OSError as error:
                log.warning("%s is left behind: %s", folder, error)
                continue
            if not clear:
                log.warning("%s is left behind: it holds what this run did not write", folder)

    def _move_late_files(self, places: Directories, source: str) -> int:
        """What was added to the rewritten directory stays in the table."""
        return move_late_files(self._fs, places.swap.compacted, source, places.live)  # guard: carry_appended

    def _move_conflicting_files(self, places: Directories) -> int:
        """What appenders wrote between the renames is part of the table, however the swap came to rest."""
        if self._fs.identity(places.live) is None:
            return 0
        return move_conflicting_files(self._fs, places.conflict, places.live)

    def _move_files_when_quiet(self, places: Directories, folder: str, known: FileListing) -> int:
        """What was added to a folder moves into the table, once nobody writes there any more; raises Held till then."""
        busy = self._busy(places, folder, known)
        if busy:
            raise Held(f"a writer is at work in {folder} ({busy}); the next run settles it")
        return move_late_files(self._fs, known, folder, places.live)

    def _busy(self, places: Directories, folder: str, known: FileListing) -> str | None:
        """What a writer has under its hands there. A file without a footer that was opened again looks as it did until
        something is flushed, so that each is asked about."""
        # guard: reopened_files
        return places.at_work(folder, known if self._policy.footers else FileListing(()))

    def _put_back(self, places: Directories, _: str | None) -> None:
        """Somebody's directory went aside in place of ours: it returns to where its owner left it."""
        self._fs.rename(places.aside, places.live)

    def _aside(self, places: Directories, problem: str | None) -> str:
        self._fs.move(places.live, places.aside, places.swap.new_id)
        return problem or overwritten(places)

    def _old_back(self, places: Directories, problem: str | None) -> str:
        """What went aside is not what was planned on: it is the writer's, and returns to where it was left."""
        self._fs.rename(places.old, places.live)
        return problem or overwritten(places)

    def _overwrites(self, places: Directories) -> bool:
        """Does a directory that a writer made anew stand for all that was there? That is the writer's to say."""
        if self._policy.writers in ("append", "overwrite"):  # guard: unknown_writers_refused
            return self._policy.writers == "overwrite"
        raise Unsafe(
            f"a writer made {places.live} anew between the renames, and 'lakekeeper.writers' does not say whether"
            f" writers of this table append or overwrite; all is kept: the originals in {places.old},"
            f" the rewritten files in {places.rewritten()}"
        )

    def _recreated(self, places: Directories, _: str | None) -> SwapResult | None:
        """A writer made the live directory anew between the renames."""
        if self._overwrites(places):
            return self._theirs(places)
        self._wait_until_quiet(places)
        number = self._next_conflict(places.conflict)
        self._fs.mkdirs(places.conflict)
        # A fenced attempt fails here, and so never moves a live directory into a folder that nobody looks at.
        self._run.journal.append(journal.CONFLICT, units=[{"unit": places.swap.unit.key}])
        self._fs.rename(places.live, f"{places.conflict}/{number}")
        return None

    def _next_conflict(self, folder: str) -> int:
        """A number above all that are taken: one that could not be emptied stays, whichever it is."""
        try:
            return max((int(entry.name) for entry in self._fs.list(folder)), default=-1) + 1
        except FileNotFoundError:
            return 0

    def _wait_until_quiet(self, places: Directories) -> None:
        before = None
        for _ in range(_QUIET_LOOKS):
            now = None if places.at_work(places.live, FileListing(())) else self._fs.list_files(places.live)
            if now is not None and now == before:
                return
            before = now
            self._services.clock.sleep(_QUIET_SECONDS)
        raise Held(f"a writer made {places.live} anew and is still at work in it; the next run settles it")

    def _superseded(self, places: Directories, _: str | None) -> SwapResult:
        """Where writers append, what they added to the originals before is part of the table as well."""
        appended = self._policy.writers == "append"
        moved_files = (
            self._move_files_when_quiet(places, places.old, places.swap.originals) if appended else 0
        )
        return replace(self._theirs(places), moved_files=moved_files)

    def _theirs(self, places: Directories) -> SwapResult:
        """Overwritten: what the writer left is the table now, and what lies in `old` stays only until a cleanup."""
        swap, here = places.swap, self._fs.list_files(places.old)
        identity = self._fs.identity(places.old)
        return SwapResult(
            journal.COMMITTED,
            overwritten(places),
            originals=here if swap.originals.diff(here) else None,
            live_id=identity if identity != swap.live_id else None,
        )


def overwritten(places: Directories) -> str:
    return f"{places.live} was overwritten by somebody"
