"""A table format of the model that keeps lists of its own files: commits, names of them, and procedures.

It behaves as the adapters in `spark_jobs/adapters/native` do: a commit is atomic, a rollback makes an earlier one the
present state and forgets later ones, and an expiry keeps the present state and what has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, TypeVar

from spark_jobs.core.messages.errors import LakekeeperError, UnitChanged
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Spec, TableName
from spark_jobs.protocol.native_ports import Commit, DataFile, UnitFiles
from tests.crash.fault_injection import FaultInjector

if TYPE_CHECKING:
    from tests.crash.simulated_cluster import SimulatedCluster

T = TypeVar("T")
MB = 1024 * 1024


@dataclass(frozen=True)
class ModelFile:
    """A file with the ids of its rows."""

    unit: Spec
    path: str
    rows: frozenset[int]
    written: int
    length: int = MB


@dataclass(frozen=True)
class ModelCommit:
    commit: Commit
    files: tuple[ModelFile, ...]


@dataclass(frozen=True)
class ModelNativeTable:
    """Its commits, oldest first; the last one is the present state. `named` are the commits that tags keep."""

    keys: tuple[str, ...]
    commits: tuple[ModelCommit, ...] = ()
    named: Mapping[str, ModelCommit] = field(default_factory=dict)
    retention: timedelta | None = None
    next_id: int = 1
    feature: str | None = None
    no_rollback: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    no_expiry: str | None = None

    @property
    def files(self) -> tuple[ModelFile, ...]:
        return self.commits[-1].files if self.commits else ()

    def committed(self, files: Iterable[ModelFile], at: datetime, rewrites: bool) -> ModelNativeTable:
        made = ModelCommit(Commit(str(self.next_id), at, rewrites), tuple(files))
        return replace(self, commits=(*self.commits, made), next_id=self.next_id + 1)

    def of(self, commit: str) -> ModelCommit:
        kept = [each for each in (*self.commits, *self.named.values()) if each.commit.id == commit]
        if not kept:
            raise LakekeeperError(f"there is no commit {commit}")
        return kept[0]


class NativeState:
    """Tables by name. They are values, so that a copy is cheap.

    `idle`: procedures say that they have done something, and do nothing.
    """

    def __init__(
        self, tables: Mapping[TableName, ModelNativeTable] | None = None, idle: bool = False
    ) -> None:
        self.tables = dict(tables or {})
        self.idle = idle
        self.version = 0

    def copy(self) -> NativeState:
        return NativeState(self.tables, self.idle)

    def text(self) -> str:
        return repr([(str(name), table.commits, sorted(table.named)) for name, table in self.tables.items()])

    def put(self, name: TableName, table: ModelNativeTable) -> None:
        self.tables[name] = table
        self.version += 1


def append(sim: SimulatedCluster, name: str, value: str, files: int = 1) -> None:
    """A writer commits files of three rows each."""
    table = TableName.parse(name)
    state = sim.native.tables[table]
    spec = ((state.keys[0], value),) if state.keys else ()
    made = [
        ModelFile(spec, f"data/{sim.ledger.next_id}", frozenset(sim.ledger.fresh(3)), sim.millis)
        for _ in range(files)
    ]
    for file in made:
        sim.ledger.committed |= file.rows
    sim.tree.tick()
    sim.native.put(table, state.committed([*state.files, *made], _now(sim), rewrites=False))


def rows_of(sim: SimulatedCluster, name: str) -> list[int]:
    """The rows that a reader sees, sorted."""
    files = sim.native.tables[TableName.parse(name)].files
    return sorted(row for file in files for row in file.rows)


def _now(sim: SimulatedCluster) -> datetime:
    return datetime.fromtimestamp(sim.millis / 1000, timezone.utc)


class ModelFormat:
    """One process's client of the format."""

    name = "iceberg"

    def __init__(self, sim: SimulatedCluster, injector: FaultInjector) -> None:
        self._sim = sim
        self._injector = injector

    def lacks(self) -> str | None:
        return None

    def table(self, facts: TableFacts) -> ModelTableClient:
        return ModelTableClient(self._sim, self._injector, TableName.parse(facts.name))


class ModelTableClient:
    """One process's client of one table."""

    def __init__(self, sim: SimulatedCluster, injector: FaultInjector, name: TableName) -> None:
        self._sim = sim
        self._injector = injector
        self._name = name

    def _call(self, act: Callable[[], T], op: str, *args: object) -> T:
        return self._injector.call(f"native_{op}", args, act, LakekeeperError)

    @property
    def _state(self) -> ModelNativeTable:
        return self._sim.native.tables[self._name]

    def _put(self, table: ModelNativeTable) -> None:
        self._sim.native.put(self._name, table)

    def location(self) -> str:
        return self._sim.metastore.get(self._name).facts.storage.location

    def property(self, name: str) -> str | None:
        return self._state.properties.get(name)

    def target_file_size(self) -> int:
        return 512 * MB

    def unsupported(self) -> str | None:
        return self._state.feature

    def no_rollback(self) -> str | None:
        return self._state.no_rollback

    def keys(self) -> Mapping[str, str]:
        return dict.fromkeys(self._state.keys, "string")

    def files(self, commit: str | None = None) -> Sequence[DataFile]:
        def act() -> Sequence[DataFile]:
            found = self._state.files if commit is None else self._state.of(commit).files
            return [DataFile(each.unit, "", each.path, each.length, each.written) for each in found]

        return self._call(act, "files", commit or "")

    def commits(self) -> Sequence[Commit]:
        return self._call(lambda: [each.commit for each in self._state.commits], "commits")

    def tags(self) -> Mapping[str, str]:
        return self._call(lambda: {k: v.commit.id for k, v in self._state.named.items()}, "tags")

    def tag(self, name: str, commit: str) -> None:
        def act() -> None:
            self._put(replace(self._state, named={**self._state.named, name: self._state.of(commit)}))

        self._call(act, "tag", name, commit)

    def untag(self, name: str) -> None:
        def act() -> None:
            named = {key: value for key, value in self._state.named.items() if key != name}
            self._put(replace(self._state, named=named))

        self._call(act, "untag", name)

    def compact(self, units: Sequence[UnitFiles], target: int) -> None:
        for unit in units:
            self._call(lambda unit=unit: self._compact(unit.unit), "compact", str(unit.unit))  # type: ignore[misc]

    def _compact(self, spec: Spec) -> None:
        if self._sim.native.idle:
            return
        state = self._state
        old = [file for file in state.files if file.unit == spec]
        rows = frozenset(row for file in old for row in file.rows)
        new = ModelFile(spec, f"data/c{state.next_id}", rows, self._sim.millis, sum(f.length for f in old))
        kept = [file for file in state.files if file.unit != spec]
        self._put(state.committed([*kept, new], _now(self._sim), rewrites=True))

    def roll_back(self, commit: str, present: str) -> None:
        def act() -> None:
            state = self._state
            ids = [each.commit.id for each in state.commits]
            if ids[-1] != present:
                raise UnitChanged("another writer has committed")
            self._put(replace(state, commits=state.commits[: ids.index(commit) + 1]))

        self._call(act, "roll_back", commit)

    def retention(self) -> timedelta | None:
        return self._state.retention

    def no_expiry(self) -> str | None:
        return self._state.no_expiry

    def expire(self, before: datetime) -> None:
        def act() -> None:
            *older, last = self._state.commits
            kept = [each for each in older if each.commit.at >= before or each in self._state.named.values()]
            self._put(replace(self._state, commits=(*kept, last)))

        self._call(act, "expire", before.isoformat())
