"""The journal of a run: numbered, immutable records, and the state that they add up to.

Records lie in `<run folder>/journal/000001.json`; paths inside are relative to the run folder, so that the
folder can be renamed as a whole. One record holds a batch of units: a tool against small files must not
leave two per partition. The journal is the authority: the metastore's backup table is only a projection of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from spark_jobs import __version__
from spark_jobs.core.errors import Unsafe
from spark_jobs.core.model import FileListing, Spec, Unit

SCHEMA_VERSION = 1

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


@dataclass(frozen=True)
class Record:
    """One record; `at` is for people and for retention, never for deciding who was first; `said` is what the record
    itself says, where the file system knows better."""

    kind: str
    at: datetime
    body: Mapping[str, Any]
    said: datetime | None = None

    def encode(self) -> bytes:
        stamp = self.at.astimezone(timezone.utc).isoformat()
        written = {"schema_version": SCHEMA_VERSION, "version": __version__, "kind": self.kind, "at": stamp}
        return json.dumps({**written, **self.body}).encode()

    @classmethod
    def decode(cls, data: bytes, name: str) -> Record:
        """Raises Unsafe for a record that this version cannot read: it must not act on half an intent."""
        try:
            body = json.loads(data)
            schema, version = body.pop("schema_version"), body.pop("version", "unknown")
            if schema != SCHEMA_VERSION:
                raise ValueError(
                    f"version {version} wrote it, in schema {schema}; this is version {__version__}, which knows schema"
                    f" {SCHEMA_VERSION}"
                )
            return cls(body.pop("kind"), datetime.fromisoformat(body.pop("at")), body)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise Unsafe(f"journal record {name} cannot be read ({error}); nothing is changed") from None


@dataclass(frozen=True)
class Swap:
    """The intent of one unit's swap, as PREPARED holds it: who is where before R1 and R2.

    `aside` is where a directory goes that must leave the live path again, `conflict` where one goes that somebody made
    there meanwhile. `new`, `old`, `aside` and `conflict` are relative to the run folder.
    """

    spec: Spec
    live: str
    new: str
    old: str
    aside: str
    conflict: str
    live_id: str
    new_id: str
    originals: FileListing
    compacted: FileListing
    rows: int

    @property
    def unit(self) -> Unit:
        return Unit(self.spec, self.live)

    def to_json(self) -> dict[str, Any]:
        body = {**self.__dict__, "spec": [list(pair) for pair in self.spec]}
        return {**body, "originals": self.originals.to_json(), "compacted": self.compacted.to_json()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Swap:
        """Raises KeyError, TypeError or ValueError for what is no swap."""
        texts = ("live", "new", "old", "aside", "conflict", "live_id", "new_id")
        if not all(isinstance(body[name], str) for name in texts) or not isinstance(body["rows"], int):
            raise TypeError(f"one of {', '.join(texts)} is no text, or 'rows' is no number")
        return cls(
            **{
                **body,
                "spec": tuple((key, value) for key, value in body["spec"]),
                "originals": FileListing.from_json(body["originals"]),
                "compacted": FileListing.from_json(body["compacted"]),
            }
        )


#: Kinds after which a unit's originals are nowhere but where they belong, and its slot may be used again.
FINAL = (DISCARDED, ROLLED_BACK, CLEANED)
#: Kinds that announce renames: where the directories are must be looked at before anything is concluded.
INTENTS = (PREPARED, ROLLBACK_PREPARED)


@dataclass(frozen=True)
class UnitState:
    """Where one unit of a run stands: its intent, the last record about it, and when it was swapped."""

    swap: Swap
    kind: str
    at: datetime
    committed_at: datetime | None = None

    @property
    def final(self) -> bool:
        return self.kind in FINAL


@dataclass(frozen=True)
class RunState:
    """What a run's records add up to. `home_id` is the identity of the home that they were written in; 0.1.0 did not
    note it, nor that of the run's own folder. `stamp` is when it began, as its folders have it in their names."""

    table: str
    started: datetime
    units: Mapping[str, UnitState] = field(default_factory=dict)
    backup_table: str | None = None
    outcome: str | None = None
    homes: tuple[str, ...] = ()
    location: str = ""
    entered: bool = True
    user: str | None = None
    home_id: str | None = None
    folder_id: str | None = None
    stamp: str = ""

    @property
    def unsettled(self) -> bool:
        """Is there an intent that nobody has brought to an end?"""
        return any(unit.kind in INTENTS for unit in self.units.values())

    @property
    def unfinished(self) -> bool:
        """Did somebody enter the run and not leave it, or leave an intent behind?"""
        return self.entered or self.unsettled

    @property
    def committed_at(self) -> datetime | None:
        """When the newest unit that still holds originals was swapped; a claim for cleanup does not make it younger."""
        held = (unit.committed_at for unit in self.units.values() if not unit.final and unit.committed_at)
        return max(held, default=None)

    def of_kind(self, *kinds: str) -> list[UnitState]:
        return [unit for unit in self.units.values() if unit.kind in kinds]


def fold(records: Iterable[Record]) -> RunState | None:
    """The state after these records in order; None while there is no RUN record yet. Raises Unsafe for a record that
    does not say what its kind must."""
    state: RunState | None = None
    units: dict[str, UnitState] = {}
    for record in records:
        try:
            state = _start(record) if state is None else _step(state, units, record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unsafe(
                f"a journal record {record.kind} cannot be read ({error!r}); nothing is changed"
            ) from None
    return replace(state, units=units) if state else None


def _start(record: Record) -> RunState:
    if record.kind != RUN:
        raise Unsafe(f"a journal starts with {record.kind} instead of {RUN}; nothing is changed")
    body = record.body
    return RunState(
        body["table"],
        record.at,
        homes=tuple(body.get("homes", ())),
        location=body.get("location", ""),
        user=body.get("user"),
        home_id=body.get("home_id"),
        folder_id=body.get("folder_id"),
        stamp=str(int((record.said or record.at).timestamp())),
    )


def _step(state: RunState, units: dict[str, UnitState], record: Record) -> RunState:
    body = record.body
    if record.kind in (RUN, ENTERED):
        return _entered(state, body)
    if record.kind == LEFT:
        return replace(state, entered=False)
    if record.kind == FINISHED:
        return replace(state, entered=False, outcome=body["outcome"])
    if record.kind == BACKUP:
        return replace(state, backup_table=body["backup_table"])
    if record.kind == PREPARED:
        units.update(_prepared(units, record))
    else:
        units.update(_moved(units, record, moved) for moved in body["units"])
    return state


def _entered(state: RunState, body: Mapping[str, Any]) -> RunState:
    """A compaction that comes back takes its outcome back; a rollback or a cleanup leaves it as it is."""
    homes = tuple(dict.fromkeys([*state.homes, *body.get("homes", ())]))
    outcome = None if body.get("verb", "compact") == "compact" else state.outcome
    return replace(state, entered=True, outcome=outcome, homes=homes)


def _prepared(units: Mapping[str, UnitState], record: Record) -> dict[str, UnitState]:
    swaps = [Swap.from_json(body) for body in record.body["swaps"]]
    for swap in swaps:
        before = units.get(swap.unit.key)
        if before is not None and not before.final:
            raise Unsafe(f"the journal prepares {swap.unit} while it is {before.kind}; nothing is changed")
    return {swap.unit.key: UnitState(swap, PREPARED, record.at) for swap in swaps}


def _moved(units: Mapping[str, UnitState], record: Record, body: Mapping[str, Any]) -> tuple[str, UnitState]:
    key = body["unit"]
    before = units.get(key)
    if before is None:
        raise Unsafe(
            f"the journal has {record.kind} for a unit that was never prepared ({key}); nothing is changed"
        )
    if record.kind == CONFLICT:
        return key, before  # a note, and a fence, on the way: where the unit stands is as it was
    committed_at = before.committed_at or (record.at if record.kind == COMMITTED else None)
    return key, UnitState(_as_found(before.swap, body), record.kind, record.at, committed_at)


def _as_found(swap: Swap, body: Mapping[str, Any]) -> Swap:
    """What lies with the originals may be more than was prepared, where it could not be carried into the table, and
    another directory, where somebody was quicker than the first rename."""
    found: dict[str, Any] = {key: body[key] for key in ("originals", "live_id") if key in body}
    if "originals" in found:
        found["originals"] = FileListing.from_json(found["originals"])
    return replace(swap, **found)
