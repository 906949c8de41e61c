"""The tables that read directories at a location: the originals of a dropped table may be their only copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal_bounds import uri_path
from spark_jobs.core.layout import Home, is_below, is_inside_home
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.runs.run_finder import homes
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class _User:
    """A table, with its units at, above or below the location."""

    facts: TableFacts
    units: tuple[Unit, ...]

    @property
    def root(self) -> str:
        return self.facts.storage.location

    def reads(self, directory: str) -> bool:
        """Tell whether the table may read a directory.

        A root with partitions above it does not count: its rows are in the partitions, which count on their own.
        """
        root = uri_path(self.root) == uri_path(directory)
        return root or any(_overlap(unit.location, directory) for unit in self.units)


class LocationUsers:
    """The tables of all databases that have a root or a partition at, above or below a location.

    It reads the partitions of every table, because any of them may be at any place (ALTER TABLE SET LOCATION moves the
    root only).
    """

    def __init__(self, services: Services, location: str) -> None:
        self._services = services
        self._users = [user for facts in self._tables() if (user := self._user(facts, location))]

    def read(self, directory: str) -> bool:
        """Tell whether a table may read this directory."""
        return any(user.reads(directory) for user in self._users)

    def check_home(self, home: str) -> None:
        """Raise Refusal if a table finds its own runs in this home, or reads a directory in it."""
        for user in self._users:
            name, places = user.facts.name, [user.root, *(unit.location for unit in user.units)]
            inside = [place for place in places if _within(place, home)]
            if inside:
                raise Refusal(
                    RefusalCode.LOCATION_IN_USE,
                    f"{name} reads {inside[0]}, which is in {home}: move its files out of that directory and set its"
                    f" location to where they are (ALTER TABLE {name} SET LOCATION), or drop that table or partition",
                )
            if uri_path(home) in {uri_path(own.path) for own in homes(user.facts, user.units)}:
                raise Refusal(
                    RefusalCode.LOCATION_IN_USE,
                    f"{name} is at {user.root}: use `lakekeeper cleanup --table {name}`",
                )

    def _user(self, facts: TableFacts, location: str) -> _User | None:
        units = self._services.metastore.units(facts)
        near = tuple(
            unit for unit, _ in units if _overlap(unit.location, location) or _beside(unit.location, location)
        )
        root = facts.storage.location
        return _User(facts, near) if near or _overlap(root, location) or _beside(root, location) else None

    def _tables(self) -> Iterator[TableFacts]:
        """Return the tables of all databases. Backup tables are left out.

        A backup table has its root in a home and the property of a run. Any other table in a home was created by a
        user, and counts.
        """
        metastore = self._services.metastore
        for name in (
            TableName(base, each) for base in metastore.databases() for each in metastore.tables(base)
        ):
            try:
                facts = metastore.table(name)
            except Refusal:
                continue  # a materialized view, which has no directory of its own
            root = facts.storage.location
            if root and not (is_inside_home(root) and "lakekeeper.run_id" in facts.properties):
                yield facts


def _overlap(one: str, other: str) -> bool:
    one, other = uri_path(one), uri_path(other)
    return one == other or is_below(one, other) or is_below(other, one)


def _beside(place: str, location: str) -> bool:
    """Tell whether a place is in a home beside the location, which is that of a table without partitions."""
    return _within(place, Home.of_table(location, partitioned=False).path)


def _within(place: str, folder: str) -> bool:
    place, folder = uri_path(place), uri_path(folder)
    return place == folder or is_below(place, folder)
