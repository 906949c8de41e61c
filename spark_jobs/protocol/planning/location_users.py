"""The tables that read directories of a dropped table: its originals may be their only copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import partitions, verbs
from spark_jobs.core.records.journal_bounds import uri_path
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values import ddl
from spark_jobs.core.values.layout import is_below, is_inside_home
from spark_jobs.core.values.model import TableName, Unit, parent
from spark_jobs.protocol.runs.run_finder import homes
from spark_jobs.protocol.services import Services


class _Places:
    """Directories, to be compared with others by path: a server may have several names."""

    def __init__(self, uris: Iterable[str]) -> None:
        self._paths = {uri_path(uri) for uri in uris}
        self._above = {above for path in self._paths for above in _ancestors(path)}

    def overlap(self, uri: str) -> bool:
        """Tell whether a directory is one of these, or is above or below one."""
        path = uri_path(uri)
        return (
            path in self._paths
            or path in self._above
            or any(above in self._paths for above in _ancestors(path))
        )


def _ancestors(path: str) -> Iterator[str]:
    while path.strip("/"):
        path = parent(path)
        yield path


@dataclass(frozen=True)
class _User:
    """A table, with its units that overlap with the places."""

    facts: TableFacts
    units: tuple[Unit, ...]

    @property
    def root(self) -> str:
        return self.facts.storage.location


class LocationUsers:
    """The tables of all databases that have a root or a partition at, above or below some places.

    It reads the partitions of every table, because any of them may be at any place (ALTER TABLE SET LOCATION moves the
    root only).

    Args:
        places: the roots, live directories and homes of dropped tables.
    """

    def __init__(self, services: Services, places: Iterable[str]) -> None:
        self._services = services
        self._places = _Places(places)
        self._users = [user for facts in self._tables() if (user := self._user(facts)) is not None]
        # A root with partitions counts by itself only: its rows are in the partitions, which count on their own.
        self._roots = {uri_path(user.root) for user in self._users}
        self._read = _Places(unit.location for user in self._users for unit in user.units)

    def read(self, directory: str) -> bool:
        """Tell whether a table may read this directory."""
        return uri_path(directory) in self._roots or self._read.overlap(directory)

    def check_home(self, home: str) -> None:
        """Raise Refusal if a table finds its own runs in this home, or reads a directory in it."""
        for user in self._users:
            name, places = user.facts.name, [user.root, *(unit.location for unit in user.units)]
            inside = [place for place in places if _within(place, home)]
            if inside:
                raise Refusal(
                    RefusalCode.LOCATION_IN_USE,
                    partitions.reads_home(
                        name, inside[0], home, f"ALTER TABLE {ddl.table_name(name)} SET LOCATION"
                    ),
                )
            if uri_path(home) in {uri_path(own.path) for own in homes(user.facts, user.units)}:
                raise Refusal(
                    RefusalCode.LOCATION_IN_USE,
                    f"{name} is at {user.root}: use `{verbs.cleanup(verbs.of_table(name))}`",
                )

    def _user(self, facts: TableFacts) -> _User | None:
        units = self._units(facts)
        near = tuple(unit for unit in units if self._places.overlap(unit.location))
        return _User(facts, near) if near or self._places.overlap(facts.storage.location) else None

    def _units(self, facts: TableFacts) -> list[Unit]:
        """Return the units of a table; none if it was dropped since the tables were listed."""
        try:
            return [unit for unit, _ in self._services.metastore.units(facts)]
        except LakekeeperError:
            if self._services.metastore.table_exists(TableName.parse(facts.name)):
                raise
            return []

    def _tables(self) -> Iterator[TableFacts]:
        """Return the tables of all databases. Backup tables are left out.

        A backup table has its root in a home and the property of a run. Any other table in a home was created by a
        user, and counts.
        """
        metastore = self._services.metastore
        for name in (
            TableName(base, each) for base in metastore.databases() for each in metastore.tables(base)
        ):
            facts = self._facts(name)
            root = facts.storage.location if facts else None
            if facts and root and not (is_inside_home(root) and "lakekeeper.run_id" in facts.properties):
                yield facts

    def _facts(self, name: TableName) -> TableFacts | None:
        """Return a table; None for a materialized view, which has no directory, or if it was dropped meanwhile."""
        try:
            return self._services.metastore.table(name)
        except Refusal as refusal:
            if refusal.code != RefusalCode.VIEW.name:  # guard: unknown_places_count
                raise  # It has a directory, of which nobody can tell here whether it is the same.
            return None
        except LakekeeperError:
            if self._services.metastore.table_exists(name):
                raise
            return None


def _within(place: str, directory: str) -> bool:
    place, directory = uri_path(place), uri_path(directory)
    return place == directory or is_below(place, directory)
