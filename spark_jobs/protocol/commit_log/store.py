"""The commit log on the file system: publishes and reads snapshots, and deletes files that crashes have left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from spark_jobs.core.planning.survey import SurveyedUnits, decode_survey, encode_survey
from spark_jobs.core.records import row_counts
from spark_jobs.core.records.change import Change
from spark_jobs.core.records.merge import plan_merge
from spark_jobs.core.records.row_counts import RowCounts
from spark_jobs.core.records.snapshots import (
    CLEANUP,
    DELETE,
    BrokenLog,
    Entry,
    ManifestList,
    ManifestMeta,
    Snapshot,
    Token,
    UnitChange,
    decode_entries,
    merge,
)
from spark_jobs.core.values.layout import LOG
from spark_jobs.protocol.commit_log.log_files import OURS, LogFiles
from spark_jobs.protocol.commit_log.snapshot_draft import SnapshotDraft
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust

DIRECTORY = LOG
#: From this age on, a file that no snapshot names was left by a crash. No attempt to publish takes that long.
ORPHAN_AGE = timedelta(hours=1)
_ATTEMPTS = 20
#: At most this number of the newest snapshots is searched for a kind.
_LOOKED_AT = 20
T = TypeVar("T")


class CommitLog:
    """The commit log in one home. A published file is never changed.

    Args:
        trust: tells whose files count; None if all do.
    """

    def __init__(
        self, fs: RecordFiles, home: str, now: Callable[[], datetime], trust: Trust | None = None
    ) -> None:
        self.home = home
        self._files = LogFiles(fs, home, trust)
        self._fs = fs
        self._now = now
        self._decoded: dict[str, Any] = {}

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots in order. Raise BrokenLog."""
        readable = (self._snapshot_if_there(number) for number in sorted(self._files.numbers()))
        return [snapshot for snapshot in readable if snapshot is not None]

    def newest_first(self) -> Iterator[Snapshot]:
        """Return all snapshots, the newest first. Each is read when it is asked for. Raise BrokenLog."""
        readable = (self._snapshot_if_there(number) for number in sorted(self._files.numbers(), reverse=True))
        return (snapshot for snapshot in readable if snapshot is not None)

    def latest(self) -> Snapshot | None:
        number = max(self._files.numbers(), default=0)
        return self._snapshot(number) if number else None

    def files(self, snapshot: Snapshot) -> list[Entry]:
        """Return what remains of all changes: ADDs of files of runs, DELETEs of files older than the log."""
        return merge(self._entries(self.standing(snapshot)))

    def logged(self, run_ids: Collection[str]) -> set[Token]:
        """Return the tokens of the units of these runs that are in the log."""
        return self._tokens(snapshot for snapshot in self.snapshots() if snapshot.run_id in run_ids)

    def units(self, snapshot: Snapshot) -> Sequence[UnitChange] | None:
        """Return the units of a snapshot; None if its files were deleted, or cannot be read."""
        try:
            return self._list(snapshot.delta).units if snapshot.delta else None
        except (BrokenLog, OSError):
            return None

    def lists(self, snapshot: Snapshot) -> tuple[ManifestList, ManifestList] | None:
        """Return base list and delta list of a snapshot; None if they were deleted, or cannot be read."""
        try:
            return (self._list(snapshot.base), self._list(snapshot.delta)) if snapshot.delta else None
        except (BrokenLog, OSError):
            return None

    def recent(self, kind: str, most: int) -> list[Snapshot]:
        """Return the newest snapshots of a kind, newest first. Few files are read: it looks at the newest 20 only."""
        latest = self.latest()
        numbers = range(latest.id, max(0, latest.id - _LOOKED_AT), -1) if latest else ()
        readable = (self._snapshot_if_there(number) for number in numbers)
        return [each for each in readable if each is not None and each.kind == kind][:most]

    def survey(self) -> SurveyedUnits:
        """Return the newest figures of listings by unit; empty if there are none."""
        latest = self.latest()
        name = latest.survey if latest else None
        return self._once("survey", name, decode_survey) if name else {}

    def publish(
        self, change: Change, survey: SurveyedUnits | None = None, units: Collection[str] = ()
    ) -> Snapshot | None:
        """Publish a change, and return the snapshot that holds it; None for a change without units.

        Units that are already in the log are left out, so a change may be published again. After OSError or BrokenLog
        it must be: it is not known whether it is in the log.

        Args:
            survey: figures of listings to publish with it.
            units: the units that the table has, whose rows are counted; none if they are not known.
        """
        for _ in range(_ATTEMPTS):
            before = self.snapshots()
            mine = [s for s in before if (s.kind, s.run_id) == (change.kind, change.run_id)]
            rest = change.without(self._tokens(mine))
            if not rest.units:
                return mine[-1] if mine else None
            draft = SnapshotDraft(self._fs, self._files.directory)
            snapshot = self._write(draft, rest, before[-1] if before else None, survey, units)
            if self._place(draft, snapshot):
                return snapshot
        raise BrokenLog(
            f"{self._files.directory('snapshot')}: other jobs took {_ATTEMPTS} numbers in a row; try again"
        )

    def sweep(self) -> list[str]:
        """Delete files that no snapshot names and that are older than an hour. Return their paths.

        They are listed before the snapshots are read, so that the files of a snapshot that is published meanwhile stay.
        """
        dead_before = int((self._now() - ORPHAN_AGE).timestamp() * 1000)
        old = [
            status
            for directory, pattern in OURS.items()
            for status in self._files.listing(directory)
            if pattern.match(status.name) and not status.is_dir and status.mtime < dead_before
        ]
        named = self._named() if old else set()
        orphans = [status.path for status in old if status.name not in named]
        for path in orphans:
            self._fs.delete_file(path)
        return orphans

    def expire(self, uuids: Collection[str]) -> None:
        """Delete these snapshots, and the files that no other snapshot names.

        The latest snapshot is kept: it names all files of the log, and the number of the next one follows its number.
        """
        older = self.snapshots()[:-1]  # guard: latest_snapshot_stays
        expired = [snapshot for snapshot in older if snapshot.uuid in uuids]
        if not expired:
            return
        for snapshot in expired:
            self._fs.delete_file(self._files.snapshot(snapshot.id))
        self.sweep()

    def _snapshot_if_there(self, number: int) -> Snapshot | None:
        """Return the snapshot; None if another job has deleted it since the numbers were listed."""
        try:
            return self._snapshot(number)
        except FileNotFoundError:
            return None

    def _snapshot(self, number: int) -> Snapshot:
        return self._once("snapshot", f"snapshot-{number}", Snapshot.decode)

    def _list(self, name: str) -> ManifestList:
        return self._once("manifest", name, ManifestList.decode)

    def _once(self, directory: str, name: str, decode: Callable[[bytes, str], T]) -> T:
        """Read a file once. Published files never change."""
        path = self._files.path(directory, name)
        if path not in self._decoded:
            self._decoded[path] = decode(*self._files.read(directory, name))
        content: T = self._decoded[path]
        return content

    def _tokens(self, snapshots: Iterable[Snapshot]) -> set[Token]:
        return {
            (s.kind, s.run_id, unit.unit, unit.old) for s in snapshots for unit in self._list(s.delta).units
        }

    def standing(self, snapshot: Snapshot) -> list[ManifestMeta]:
        return [*self._list(snapshot.base).manifests, *self._list(snapshot.delta).manifests]

    def _entries(self, manifests: Sequence[ManifestMeta]) -> list[Entry]:
        return [
            entry for meta in manifests for entry in decode_entries(*self._files.read("manifest", meta.name))
        ]

    def _named(self) -> set[str]:
        names: set[str] = set()
        for snapshot in self.snapshots():
            names |= {snapshot.base, snapshot.delta, snapshot.survey or "", snapshot.row_counts or ""}
            names |= {meta.name for meta in self.standing(snapshot)}
        return names

    def _write(
        self,
        draft: SnapshotDraft,
        change: Change,
        last: Snapshot | None,
        survey: SurveyedUnits | None,
        units: Collection[str],
    ) -> Snapshot:
        """Write all files of a snapshot. After an error they are deleted: nothing refers to them yet."""
        if self._fs.status(self.home) is None:
            raise FileNotFoundError(
                f"{self.home} was deleted or renamed; the commit log does not create it again"
            )
        try:
            for directory in OURS:
                self._fs.mkdirs(self._files.directory(directory))
            base = draft.list(self._merged(draft, self.standing(last)) if last else ())
            delta = draft.list(draft.manifest(change.entries), change.units)
            noted = last.survey if last else None
            if survey is not None:
                noted = draft.survey(encode_survey(survey))
            rows = self._counted(draft, change, last, units)
            snapshot = change.snapshot(draft.uuid, last, (base, delta), noted, self._now(), rows)
            draft.stage(snapshot)
        except Exception:
            draft.discard()
            raise
        return snapshot

    def _counted(
        self, draft: SnapshotDraft, change: Change, last: Snapshot | None, units: Collection[str]
    ) -> RowCounts:
        """Count the rows of the units after the change. A cleanup deletes files that no reader sees."""
        if change.kind == CLEANUP and last is not None:
            return RowCounts.unchanged(last)
        before = row_counts.still_counted(self._files.rows(last), units)
        return draft.rows(before, row_counts.counted_rows(before, change.units))

    def _merged(self, draft: SnapshotDraft, metas: Sequence[ManifestMeta]) -> list[ManifestMeta]:
        plan = plan_merge(metas)
        if plan.full:
            return self._merged_fully(draft, metas, plan.due)
        parts = (
            [*part] if len(part) == 1 else draft.manifest(merge(self._entries(part))) for part in plan.parts
        )
        return [meta for part in parts for meta in part]

    def _merged_fully(
        self, draft: SnapshotDraft, metas: Sequence[ManifestMeta], due: Collection[str]
    ) -> list[ManifestMeta]:
        """Merge manifests so that DELETE entries can be removed: no manifest that is left may add the same file."""
        entries = merge(self._entries([meta for meta in metas if meta.name in due]))
        gone = {entry.identity for entry in entries if entry.kind == DELETE}
        kept = [meta for meta in metas if meta.name not in due and not self._adds(meta, gone)]
        chosen = [meta for meta in metas if meta not in kept]
        return [*kept, *draft.manifest(merge(self._entries(chosen), full=True))]

    def _adds(self, meta: ManifestMeta, gone: Collection[tuple[str, str, int]]) -> bool:
        return bool(gone) and any(entry.identity in gone for entry in self._entries([meta]))

    def _place(self, draft: SnapshotDraft, snapshot: Snapshot) -> bool:
        """Rename the snapshot to its number. Return False if another snapshot has that number.

        After an error the hidden file is deleted first: then a late rename cannot succeed any more, and what is at the
        number is final. If that cannot be read, no file is deleted, because the snapshot may exist and name all files.
        """
        try:
            self._fs.rename(draft.staged, self._files.snapshot(snapshot.id))
        except OSError as error:
            self._fs.delete_file(draft.staged)
            if self._is_at(snapshot):
                return True
            draft.discard()
            if isinstance(error, FileExistsError):
                return False
            raise
        return True

    def _is_at(self, snapshot: Snapshot) -> bool:
        path = self._files.snapshot(snapshot.id)
        status = self._fs.status(path)
        if status is None:
            return False
        self._files.check(status)
        return Snapshot.decode(self._fs.read(path), path).uuid == snapshot.uuid
