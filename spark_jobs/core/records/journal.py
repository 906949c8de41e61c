"""The journal of a run: numbered, immutable records, and the state that follows from them.

The records are the files `<run directory>/journal/000001.json` and so on. Paths in them are relative to the run's
directory, so that it can be renamed as a whole. One record has a batch of units: a tool against small files must not
write two of them for each partition. The journal is the authority: the backup table in the metastore is derived from
it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.records.record_files import DECODING_ERRORS, parsed, stamped, unstamped
from spark_jobs.core.records.statistics import KeptStatistics
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.garbage import rarely_collected

RUN = "RUN"
ENTERED = "ENTERED"
LEFT = "LEFT"
CONFLICT = "CONFLICT"
PREPARED = "PREPARED"
COMMITTED = "COMMITTED"
DISCARDED = "DISCARDED"
FINISHED = "FINISHED"
BACKUP = "BACKUP"
ROLLBACK_PREPARED = "ROLLBACK_PREPARED"
ROLLED_BACK = "ROLLED_BACK"
CLEANUP_CLAIMED = "CLEANUP_CLAIMED"
CLEANED = "CLEANED"
STATISTICS = "STATISTICS"


@dataclass(frozen=True)
class Record:
    """One record.

    Attributes:
        at: the time of the record. It is used for people and for retention, never to decide which record came first.
        said: the time in the record itself; `at` may be the later time of its file.
        filed: the time of its file, by the clock of the file system, which all drivers share.
    """

    kind: str
    at: datetime
    body: Mapping[str, Any]
    said: datetime | None = None
    filed: datetime | None = None

    @rarely_collected()
    def encode(self) -> bytes:
        stamp = self.at.astimezone(timezone.utc).isoformat()
        return json.dumps(stamped({"kind": self.kind, "at": stamp, **self.body})).encode()

    @classmethod
    @rarely_collected()
    def decode(cls, data: bytes, name: str) -> Record:
        """Decode the content of the record `name`.

        Raises:
            OtherVersion: it has another schema. A job must not act on an intent that it knows only in part.
            Unsafe: it is no record.
        """
        try:
            body = unstamped(parsed(data), name)
            return cls(body.pop("kind"), datetime.fromisoformat(body.pop("at")), body)
        except DECODING_ERRORS as error:
            raise Unsafe(f"journal record {name} cannot be read ({error}); nothing is changed") from None


#: Kinds after which the run holds no originals of the unit any more, and the unit may be prepared again.
FINAL = (DISCARDED, ROLLED_BACK, CLEANED)
#: Kinds that announce renames. After them, only the file system tells where the directories are.
INTENTS = (PREPARED, ROLLBACK_PREPARED)


@dataclass(frozen=True)
class UnitState:
    """The state of one unit of a run: its intent, kind and time of its last record, and the time of its swap.

    Attributes:
        forgotten: a person has ended the record of the originals (CLEANED); what is left of them was not deleted.
        seconds: the time that the rewrite took; None if it is not known.
        created: when the metastore had made the partition, as it said before the swap; None if it is not known.
        live_missing: the last intent is a rollback of a unit whose live directory did not exist any more.
        dropped_at: when a job has found that the partition was dropped, and left its rows in the originals.
        statistics: those that a rollback puts back in the metastore; None if there are none.
    """

    swap: Swap
    kind: str
    at: datetime
    committed_at: datetime | None = None
    forgotten: bool = False
    seconds: float | None = None
    created: int | None = None
    live_missing: bool = False
    dropped_at: datetime | None = None
    statistics: KeptStatistics | None = None

    @property
    def final(self) -> bool:
        return self.kind in FINAL

    @property
    def kept_since(self) -> datetime | None:
        """Return from when on the originals are kept for the retention.

        Of a partition that was dropped, this is when a job has said so: a person needs that time to get its rows back.
        """
        return self.dropped_at or self.committed_at  # guard: retention_since_dropped


@dataclass(frozen=True)
class RunState:
    """The state of a run, which follows from its records.

    Attributes:
        started: by the clock of the file system. It tells which run came first.
        entered: an attempt has entered the run, and not left it yet.
        home_id: the identity of the home in which the records were written.
        directory_id: the identity of the run's directory.
        stamp: the start of the run in seconds since the epoch, as in the names of its working directories.
        seconds: how long the attempt took that has finished the run; None if it is not known.
        finished: when the compaction has ended; None if it has not.
    """

    table: str
    started: datetime
    location: str = ""
    home_id: str = ""
    directory_id: str = ""
    units: Mapping[str, UnitState] = field(default_factory=dict)
    backup_table: str | None = None
    outcome: str | None = None
    homes: tuple[str, ...] = ()
    entered: bool = True
    user: str | None = None
    stamp: str = ""
    seconds: float | None = None
    finished: datetime | None = None

    @property
    def has_open_intent(self) -> bool:
        """Tell whether there is an intent without a result."""
        return any(unit.kind in INTENTS for unit in self.units.values())

    @property
    def unfinished(self) -> bool:
        """Tell whether an attempt has entered the run and not left it, or whether an intent is open."""
        return self.entered or self.has_open_intent

    @property
    def committed_at(self) -> datetime | None:
        """Return since when the newest unit whose originals are kept has them; None if there is no such unit.

        A claim for cleanup does not change this time.
        """
        held = (unit.kept_since for unit in self.units.values() if not unit.final and unit.committed_at)
        return max((at for at in held if at), default=None)

    def of_kind(self, *kinds: str) -> list[UnitState]:
        return [unit for unit in self.units.values() if unit.kind in kinds]


def state_after(records: Iterable[Record], before: RunState | None = None) -> RunState | None:
    """Return the state after these records, which are in order; None if there is no record yet.

    Args:
        before: the state after the records before these; None if these are the first.

    Raises:
        Unsafe: a record does not have the fields of its kind, or does not fit those before it.
    """
    state = before
    units = dict(before.units) if before else {}
    for record in records:
        try:
            state = _start(record) if state is None else _step(state, units, record)
        except DECODING_ERRORS as error:
            raise Unsafe(
                f"a journal record {record.kind} cannot be read ({error!r}); nothing is changed"
            ) from None
    return replace(state, units=units) if state else None


def _start(record: Record) -> RunState:
    if record.kind != RUN:
        raise Unsafe(f"a journal starts with {record.kind} instead of {RUN}; nothing is changed")
    body = record.body
    if not all(isinstance(body[name], str) for name in ("table", "location", "home_id", "directory_id")):
        raise Unsafe(
            f"the record {RUN} of a journal has no valid table, location and identities; nothing is changed"
        )
    return RunState(
        body["table"],
        record.filed or record.at,
        location=body["location"],
        home_id=body["home_id"],
        directory_id=body["directory_id"],
        homes=tuple(body["homes"]),
        user=body["user"],
        stamp=str(int((record.said or record.at).timestamp())),
    )


def _step(state: RunState, units: dict[str, UnitState], record: Record) -> RunState:
    body = record.body
    if record.kind in (RUN, ENTERED):
        return _entered(state, body)
    if record.kind == LEFT:
        return replace(state, entered=False)
    if record.kind == FINISHED:
        ended = replace(state, entered=False, outcome=body["outcome"], seconds=_seconds(body))
        return replace(ended, finished=record.filed or record.at)
    if record.kind == BACKUP:
        return replace(state, backup_table=body["backup_table"])
    if record.kind == PREPARED:
        units.update(_prepared(units, record))
    elif record.kind == STATISTICS:
        units.update(_described(units, body["statistics"]))
    else:
        units.update(_moved(units, record, moved) for moved in body["units"])
    return state


def _entered(state: RunState, body: Mapping[str, Any]) -> RunState:
    """Return the state after an attempt has entered. Only a compaction clears the outcome of the run."""
    homes = tuple(dict.fromkeys([*state.homes, *body.get("homes", ())]))
    outcome = None if body.get("verb", "compact") == "compact" else state.outcome
    return replace(state, entered=True, outcome=outcome, homes=homes)


def _prepared(units: Mapping[str, UnitState], record: Record) -> dict[str, UnitState]:
    swaps = [Swap.from_json(body) for body in record.body["swaps"]]
    for swap in swaps:
        before = units.get(swap.unit.key)
        if before is not None and not before.final:
            raise Unsafe(
                f"the journal prepares {swap.unit} again while it is {before.kind}; nothing is changed"
            )
    created = record.body.get("created")
    known = created if isinstance(created, dict) else {}
    return {
        swap.unit.key: UnitState(swap, PREPARED, record.at, created=_number(known.get(swap.unit.key)))
        for swap in swaps
    }


def _number(value: object) -> int | None:
    """Return a number that is only compared for equality, so that no other value makes the record wrong."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moved(units: Mapping[str, UnitState], record: Record, body: Mapping[str, Any]) -> tuple[str, UnitState]:
    key = body["unit"]
    before = units.get(key)
    if before is None:
        raise Unsafe(
            f"the journal has {record.kind} for a unit that was never prepared ({key}); nothing is changed"
        )
    if record.kind == CONFLICT:
        return key, before  # Only a note, and a fence: the state of the unit does not change.
    committed_at = before.committed_at or (record.at if record.kind == COMMITTED else None)
    forgotten = record.kind == CLEANED and body.get("forgotten") is True
    seconds = _seconds(body) if record.kind == COMMITTED else before.seconds
    missing = record.kind == ROLLBACK_PREPARED and body.get("live_missing") is True
    dropped = record.kind == COMMITTED and body.get("dropped") is True
    return key, replace(
        before,
        swap=before.swap.as_found(body),
        kind=record.kind,
        at=record.at,
        committed_at=committed_at,
        forgotten=forgotten,
        seconds=seconds,
        live_missing=missing,
        dropped_at=record.at if dropped else before.dropped_at,
    )


def _described(units: Mapping[str, UnitState], body: Mapping[str, Any]) -> dict[str, UnitState]:
    """Return the units whose statistics a record has. Their states do not change."""
    return {
        key: replace(units[key], statistics=KeptStatistics.from_json(kept))
        for key, kept in body.items()
        if key in units
    }


def _seconds(body: Mapping[str, Any]) -> float | None:
    """Return the duration in a record. It is only shown, so one that is no number does not make the record wrong."""
    seconds = body.get("seconds")
    return float(seconds) if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) else None
