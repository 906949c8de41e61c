"""Where the metastore has a unit of a run: it may have been moved, renamed or dropped since the run."""

from __future__ import annotations

import json
from collections.abc import Mapping

from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.ddl import set_location
from spark_jobs.core.values.model import Spec

#: The locations in the metastore by unit key.
Locations = Mapping[str, str]


def is_registered(swap: Swap, locations: Locations) -> bool:
    """Return whether the metastore has a unit at the live path.

    A partition that was renamed is there under other values: its directory, and the rows in it, are the same.
    """
    # guard: renamed_still_registered
    return locations.get(swap.unit.key) == swap.live or swap.live in locations.values()


def statement_back(swap: Swap, locations: Locations, table: str, place: str) -> str | None:
    """Return the statement that points the unit that is at `place` at the live path of this swap.

    Return None if a unit is at the live path already, or if the table has no partitions.
    """
    keys = [swap.unit.key, *(key for key, location in locations.items() if location == place)]
    spec = next((spec_of(key) for key in keys if locations.get(key) == place), ())
    if not spec or is_registered(swap, locations):
        return None
    return set_location(table, spec, swap.live)


def spec_of(key: str) -> Spec:
    """Return the partition values of a unit from its key."""
    return tuple((name, value) for name, value in json.loads(key))
