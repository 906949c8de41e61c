"""What a partition has in the metastore that partition discovery does not bring back when it adds the partition again.

Discovery drops a partition whose directory is away, and adds a directory that it finds, with nothing but values and
location.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from spark_jobs.core.rules.eligibility import Storage

#: Parameters that the metastore and the engines set by themselves.
_AUTOMATIC = re.compile(
    r"(numFiles\w*|numRows|totalSize|rawDataSize|transient_lastDdlTime|last_modified_\w+|COLUMN_STATS_ACCURATE"
    r"|STATS_GENERATED\w*|DO_NOT_UPDATE_STATS|impala[._].*|spark\.sql\.statistics\..*)\Z",
    re.IGNORECASE,
)
#: This many names of parameters are in a message.
_SHOWN = 5


def set_by_people(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a partition that its metastore and engines do not set by themselves."""
    return {name: value for name, value in parameters.items() if not _AUTOMATIC.match(name)}


def lost(before: Storage | None, now: Storage | None, table: Storage) -> str:
    """Return what a partition has lost by being dropped, or dropped and added again.

    Args:
        before: the partition as the job has read it before; None if it was dropped earlier.
        now: the partition that the metastore has now; None if it has none.
        table: the storage of its table, by which discovery adds partitions.
    """
    values = list(_lost(before, now or table)) if before else []
    known = f" It had {'; '.join(values)}." if values else ""
    return (
        "Its statistics, parameters, SerDe properties, and a format of its own do not come back with it."
        f"{known} Set again what it needs (ALTER TABLE ... PARTITION ...), and compute its statistics (ANALYZE TABLE)"
    )


def _lost(before: Storage, now: Storage) -> Iterator[str]:
    parameters = _differing(before.parameters, now.parameters)
    if parameters:
        yield f"the parameters {parameters}"
    properties = _differing(before.properties, now.properties)
    if properties:
        yield f"the SerDe properties {properties}"
    if (before.serde, before.input_format) != (now.serde, now.input_format):
        yield f"the SerDe {before.serde} and the input format {before.input_format}"


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    names = sorted(name for name, value in before.items() if now.get(name) != value)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
