"""What a check of one table looks at: the table, its runs, and where the originals of each unit are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.remedies import verbs
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values.layout import claimed_directory
from spark_jobs.core.values.model import Unit
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.direction import executor_of
from spark_jobs.protocol.swap.directories import SwapPaths
from spark_jobs.protocol.swap.policy import SwapPolicy

#: Kinds of records after which the run holds the originals of a unit.
HELD = (journal.COMMITTED, journal.CLEANUP_CLAIMED)


@dataclass(frozen=True, eq=False)
class UnitOfRun:
    """One unit of a run, as the journal has it."""

    run: Run
    state: UnitState

    @property
    def old(self) -> str:
        return self.run.path(self.state.swap.old)

    @property
    def claimed(self) -> str:
        """Return the path to which a cleanup moves the originals before it deletes them."""
        below = self.state.swap.old.split("/", 1)[1]
        return self.run.path(f"{claimed_directory(self.run.state.stamp)}/{below}")

    @property
    def held(self) -> bool:
        return self.state.kind in HELD

    @property
    def rewritten(self) -> bool:
        """Tell whether the rewritten directory has become the live one, and was not rolled back."""
        return self.held or (self.state.kind == journal.CLEANED and self.state.committed_at is not None)

    def paths(self, services: Services) -> SwapPaths:
        return SwapPaths(services.fs, self.run.directory, self.state.swap)

    def has_rule(self, services: Services, where: SwapState) -> bool:
        """Tell whether a job finishes the unit's swap from this state; otherwise a person must end it."""
        return executor_of(services, self.run, self.state, SwapPolicy()).has_rule(where)

    def finding(self, code: DamageCode, path: str, message: str, command: str | None, **more: Any) -> Finding:
        unit = self.state.swap.unit.to_json()
        return Finding(code, path, message, command, unit, self.run.run_id, **more)


@dataclass(frozen=True)
class Scope:
    """One table, and its runs whose journals can be read, oldest first.

    Attributes:
        unknown: the ids of runs whose journals are missing, cannot be read, or came with a copy.
        copies: by unit key, the originals of a directory that was copied between the renames of a swap.
        only_originals: by the path of a missing live directory, its originals in a run that cannot be read.
        of_others: the runs of other tables at the same location.
    """

    table: Table
    runs: Sequence[Run]
    unknown: frozenset[str] = frozenset()
    copies: Mapping[str, str] = field(default_factory=dict)
    only_originals: Mapping[str, str] = field(default_factory=dict)
    of_others: Sequence[Run] = ()

    @property
    def services(self) -> Services:
        return self.table.services

    @property
    def name(self) -> str:
        return self.table.facts.name

    @cached_property
    def _formats(self) -> Mapping[str, str | None]:
        return {unit.key: storage.format for unit, storage in self.table.storages.items()}

    def format_of(self, unit: UnitOfRun) -> str | None:
        """Return the format of a unit's files. Partitions keep theirs when the table gets another one."""
        return self._formats.get(unit.state.swap.unit.key, self.table.facts.storage.format)

    @cached_property
    def units(self) -> list[UnitOfRun]:
        """Return each unit of each run."""
        return [UnitOfRun(run, state) for run in self.runs for state in run.state.units.values()]

    @cached_property
    def _by_name(self) -> dict[str, list[UnitOfRun]]:
        units: dict[str, list[UnitOfRun]] = {}
        for unit in self.units:
            swap = unit.state.swap
            for name in {swap.unit.key, swap.live}:
                units.setdefault(name, []).append(unit)
        return units

    def of(self, unit: Unit) -> list[UnitOfRun]:
        """Return what the runs have of a unit, by its partition values or by its directory; oldest first."""
        units = [*self._by_name.get(unit.key, ()), *self._by_name.get(unit.location, ())]
        return sorted(dict.fromkeys(units), key=lambda each: each.run.state.started)

    def recovery(self) -> str:
        """Return the command that recovers unfinished runs and deletes no originals."""
        return verbs.recovery(self.table.target)

    def rollback(self, run: Run) -> str:
        if self.table.dropped:
            return "the steps of docs/safety/manual-restore.md"
        return verbs.rollback(self.table.target, run.run_id)

    def forget(self, run: Run) -> str:
        return verbs.forget(self.table.target, run.run_id)
