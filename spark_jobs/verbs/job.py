"""The inputs and services of one job, and what it names of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.nearest import nearest
from spark_jobs.core.options import selection
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.options.layers import Layers, read_properties
from spark_jobs.core.planning.plan_file import Planned, PlannedUnit
from spark_jobs.core.rules.eligibility import check_runs
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.request import EVERY_TABLE, Request
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.table_session import TableSession, lease_options
from spark_jobs.protocol.planning.table import Table, read_table
from spark_jobs.protocol.runs.lease import LeaseSet
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class Job:
    """The inputs and services of one job.

    Attributes:
        admission: what the job may still do; all tables share it.
        planned: the units of the plan that is executed; None without a plan.
        ignored: by table, warnings about its properties that do not count.
        show: shows a text to the person who has started the job, besides the report.
    """

    invocation: Invocation
    services: Services
    layers: Layers
    request: Request
    run_id: str
    admission: JobAdmission
    show: Callable[[str], None]
    planned: Planned | None = None
    ignored: dict[str, Sequence[str]] = field(default_factory=dict)

    def planned_units(self, name: TableName) -> list[tuple[PlannedUnit, str | None]]:
        """Return the units of the plan for this table, with the fingerprints of their files then.

        The plan comes from the command line, or the caller has put it into the request.
        """
        if self.planned is not None:
            return _entry_of({text: table.units for text, table in self.planned.items()}, name)
        units, fingerprints = self.request.units or {}, self.request.fingerprints or {}
        return list(zip(_entry_of(units, name), _entry_of(fingerprints, name)))

    def wanted_units(self, name: TableName) -> Sequence[Mapping[str, str | None]] | None:
        """Return the units that the plan or the request names for this table, or None if they name no units at all."""
        if self.planned is not None:
            return [unit for unit, _ in self.planned_units(name)]
        return None if self.request.units is None else _entry_of(self.request.units, name)

    def requested_runs(self, name: TableName) -> Sequence[str] | None:
        """Return the runs that the request names for this table, or None if the request names no runs at all."""
        if self.request.runs is None:
            return None
        of_tables = {table: runs for table, runs in self.request.runs.items() if table != EVERY_TABLE}
        return [*_entry_of(of_tables, name), *self.request.runs.get(EVERY_TABLE, ())]

    @contextmanager
    def session(self, name: TableName) -> Iterator[TableSession]:
        """Open a session of one table. The leases that it takes are released at the end, also after an error.

        Raises:
            Refusal: the table is on an object store.
        """
        table = self.table(name)
        check_runs(table.facts, table.options.bucketing, table.options.enabled)
        with LeaseSet(self.services, lease_options(self.invocation.verb, table.options)) as leases:
            yield TableSession(self.services, table, leases, self.invocation.verb, lambda: self.table(name))

    def table(self, name: TableName) -> Table:
        """Read one table and its options."""
        with self.services.phases.during("list"):
            table = read_table(self.services, self.layers, name)
        self.ignored[table.facts.name] = read_properties(table.facts.properties, table.facts.name).ignored
        return table

    def table_names(self) -> list[TableName]:
        """Return the tables to work on. Raise UsageError if the database does not exist."""
        if self.planned is not None:
            return list(dict.fromkeys(TableName.parse(text) for text in self.planned))
        if not self.invocation.database:
            return list(dict.fromkeys(TableName.parse(text) for text in self.invocation.tables))
        database = self.invocation.database.lower()
        if not self.services.metastore.database_exists(database):
            near = nearest(database, self.services.metastore.databases())
            raise UsageError(f"database '{database}' does not exist in the metastore{near}")
        options = self.layers.resolve()
        names = selection.match_tables(
            self.services.metastore.tables(database), options.include, options.exclude
        )
        return [TableName(database, name) for name in names]


def _entry_of(by_table: Mapping[str, Any], name: TableName) -> list[Any]:
    """Return the entry of a table. Names are compared in their parsed form."""
    return [item for text, items in by_table.items() if TableName.parse(text) == name for item in items]
