"""The tables that share a location: a home may hold the runs of several."""

from __future__ import annotations

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.records.journal_bounds import uri_path
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.services import Services


class OtherTables:
    """Tells whether a run at a table's location belongs to another table. The metastore is asked once for each name."""

    def __init__(self, services: Services, facts: TableFacts) -> None:
        self._metastore = services.metastore
        self._facts = facts
        self._at_location: dict[str, bool] = {}

    def own(self, name: str) -> bool:
        """Tell whether a run of the table of this name, at this location, belongs to another table.

        A run with another table name belongs to this table if the table was renamed since: then no table of the old
        name is at the same location.
        """
        if name == self._facts.name:
            return False
        if name not in self._at_location:
            self._at_location[name] = self._exists_at_location(name)
        return self._at_location[name]

    def _exists_at_location(self, name: str) -> bool:
        try:
            table = TableName.parse(name)
        except UsageError:
            return False
        metastore = self._metastore
        if not metastore.database_exists(table.database) or not metastore.table_exists(table):
            return False
        return uri_path(metastore.table(table).storage.location) == uri_path(self._facts.storage.location)
