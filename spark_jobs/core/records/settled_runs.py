"""Settled runs: what a home keeps of runs that hold no originals any more, once their directories are deleted.

The journal of such a run leads to no directory. What is left of it are answers: what the history shows, why a rollback
restores nothing, and which run id comes next. A record holds these answers for all settled runs of a table. It is
checked like any other input. No directory is renamed or deleted because of what it says.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import RunState
from spark_jobs.core.records.journal_bounds import is_same_table
from spark_jobs.core.records.record_files import DECODING_ERRORS, stamped, unpacked
from spark_jobs.core.records.snapshots import KINDS, Sizes, Snapshot
from spark_jobs.core.values.layout import is_run_id


@dataclass(frozen=True)
class SettledRun:
    """What is kept of one directory of a settled run.

    Attributes:
        directory_id: the identity of the run's directory. While a directory with this identity is in the home, its
            journal counts instead.
        kinds: the kinds of the last records of its units, each with the time of its newest record.
        replaced: the units that this run compacted again while an earlier run held originals of them, with the time of
            the swap. The earlier run is superseded.
    """

    run_id: str
    directory_id: str
    table: str
    location: str
    started: datetime
    outcome: str | None
    kinds: Mapping[str, datetime]
    replaced: Mapping[str, datetime]

    @classmethod
    def of(cls, run_id: str, directory_id: str, state: RunState, held: Collection[str]) -> SettledRun:
        """Return what is kept of a run.

        Args:
            held: the keys of the units whose originals any run of the table still holds.
        """
        kinds: dict[str, datetime] = {}
        for unit in state.units.values():
            kinds[unit.kind] = max(unit.at, kinds.get(unit.kind, unit.at))
        replaced = {
            key: unit.committed_at
            for key, unit in state.units.items()
            if key in held and unit.committed_at and unit.kind not in (journal.ROLLED_BACK, journal.DISCARDED)
        }
        return cls(
            run_id, directory_id, state.table, state.location, state.started, state.outcome, kinds, replaced
        )

    def is_of(self, table: str, location: str) -> bool:
        """Tell whether this was a run of the table."""
        return is_same_table(self.table, self.location, table, location)


def is_settled(state: RunState) -> bool:
    """Tell whether a run has ended and holds no originals any more."""
    if state.entered:  # guard: unfinished_run_not_folded
        return False
    return all(unit.final for unit in state.units.values())  # guard: originals_not_folded


def cleaned_at(runs: Iterable[SettledRun]) -> list[datetime]:
    """Return when the originals of these runs were cleaned up; nothing for runs whose originals were not."""
    return [run.kinds[journal.CLEANED] for run in runs if journal.CLEANED in run.kinds]


@dataclass(frozen=True)
class SettledRecord:
    """The settled runs of a home, and the snapshots of the commit log that only they need.

    Attributes:
        home_id: the identity of the home. In a copy of the home the record is about other directories.
        snapshots: without the names of their manifests, which may be deleted.
    """

    home_id: str | None = None
    runs: tuple[SettledRun, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()

    def adding(
        self, home_id: str, runs: Iterable[SettledRun], snapshots: Iterable[Snapshot]
    ) -> SettledRecord:
        """Return the record of this home with these as well. What is added twice is in it once."""
        by_directory = {run.directory_id: run for run in (*self.runs, *runs)}
        by_uuid = {snapshot.uuid: snapshot for snapshot in (*self.snapshots, *snapshots)}
        return SettledRecord(home_id, tuple(by_directory.values()), tuple(by_uuid.values()))

    def with_deleted(self, snapshots: Iterable[Snapshot]) -> list[Snapshot]:
        """Return these snapshots of the commit log, and before them those that were deleted from it."""
        present = list(snapshots)
        uuids = {snapshot.uuid for snapshot in present}
        return [*(snapshot for snapshot in self.snapshots if snapshot.uuid not in uuids), *present]

    def encode(self) -> bytes:
        body = {
            "home_id": self.home_id,
            "runs": [vars(run) for run in self.runs],
            "snapshots": [{name: getattr(each, name) for name in _KEPT} for each in self.snapshots],
        }
        return gzip.compress(json.dumps(stamped(body), default=_plain).encode(), mtime=0)

    @classmethod
    def decode(cls, data: bytes, name: str) -> SettledRecord:
        """Decode the content of the file `name`.

        Raises:
            OtherVersion: it has another schema.
            Unsafe: it is no record.
        """
        try:
            body = unpacked(data, name)
            return cls(
                _checked(body["home_id"], _optional_text),
                tuple(_run(each) for each in body["runs"]),
                tuple(_snapshot(each) for each in body["snapshots"]),
            )
        except (*DECODING_ERRORS, OSError) as error:
            raise Unsafe(
                f"the record of settled runs {name} cannot be read ({error}); nothing is changed. Move it away:"
                " the history of the runs in it is lost then"
            ) from None


#: What a snapshot says of its run, which is all that a history shows of it.
_KEPT = (
    *("id", "uuid", "kind", "run_id", "table", "location", "who", "committed_at", "units", "rows"),
    *("before", "after", "seconds", "total_rows", "total_row_units"),
)


def _plain(value: datetime | Sizes) -> str | dict[str, int]:
    if isinstance(value, Sizes):
        return asdict(value)
    return value.astimezone(timezone.utc).isoformat()


Check = Callable[[Any], bool]


def _checked(value: Any, check: Check) -> Any:
    if not check(value):
        raise ValueError(f"{str(value)[:80]!r} is not what is expected there")
    return value


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _optional_number(value: Any) -> bool:
    return value is None or _number(value)


def _optional_seconds(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0)


def _run_id(value: Any) -> bool:
    return isinstance(value, str) and is_run_id(value)


def _kind(value: Any) -> bool:
    return value in KINDS


_RUN_FIELDS: Mapping[str, Check] = {
    "run_id": _run_id,
    "directory_id": _text,
    "table": _text,
    "location": _text,
    "outcome": _optional_text,
}
_SNAPSHOT_FIELDS: Mapping[str, Check] = {
    **{"id": _number, "uuid": _text, "kind": _kind, "run_id": _run_id, "table": _text, "location": _text},
    **{"who": _optional_text, "units": _number, "rows": _number},
}


def _run(body: Mapping[str, Any]) -> SettledRun:
    known = {name: _checked(body[name], check) for name, check in _RUN_FIELDS.items()}
    return SettledRun(
        **known,
        started=_time(body["started"]),
        kinds=_times(body["kinds"]),
        replaced=_times(body["replaced"]),
    )


def _snapshot(body: Mapping[str, Any]) -> Snapshot:
    known = {name: _checked(body[name], check) for name, check in _SNAPSHOT_FIELDS.items()}
    at = _time(body["committed_at"])
    before, after = (
        Sizes(*(_checked(body[name][part], _number) for part in ("files", "bytes")))
        for name in ("before", "after")
    )
    return Snapshot(
        **known,
        committed_at=at,
        logged_at=at,
        schema_hash=None,
        base="",
        delta="",
        before=before,
        after=after,
        seconds=_checked(body["seconds"], _optional_seconds),
        total_rows=_checked(body["total_rows"], _optional_number),
        total_row_units=_checked(body["total_row_units"], _optional_number),
    )


def _times(body: Mapping[str, Any]) -> dict[str, datetime]:
    return {key: _time(value) for key, value in body.items()}


def _time(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return moment
