"""The selection of tables and partitions: globs, partition specs and the units in a request."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shown
from spark_jobs.core.options.parsers import plain, sendable
from spark_jobs.core.values.model import DEFAULT_PARTITION, Unit, unit_key

PartitionSpec = dict[str, Optional[str]]


#: This many partition specs may be given, with this many characters in all of them, and in one key or value.
MOST_SPECS, _LONGEST, _LONGEST_VALUE = 100_000, 10_000_000, 10_000


def parse_partitions(value: Any) -> list[PartitionSpec]:
    """Parse a list of partition specs, which may be partial, or its JSON. Raise UsageError if it is not valid."""
    specs = _from_json(value) if isinstance(value, str) else value
    specs = [specs] if isinstance(specs, Mapping) else specs
    if not isinstance(specs, list) or not 1 <= len(specs) <= MOST_SPECS:
        raise UsageError(
            f'partitions {shown(value)} must be a list of 1 to {MOST_SPECS} partitions, like [{{"date": "2026-02-23"}}]'
        )
    return [_spec(spec) for spec in specs]


def _from_json(text: str) -> Any:
    try:
        return json.loads(plain(text, _LONGEST))
    except (ValueError, RecursionError):
        raise UsageError(
            f'partitions {shown(text)} is not valid JSON; write [{{"date": "2026-02-23"}}]'
        ) from None


def _spec(spec: Any) -> PartitionSpec:
    if not isinstance(spec, Mapping) or not spec:
        raise UsageError(f"partition spec {shown(spec)} must be an object of partition keys and values")
    return {_key(key): _value(key, value) for key, value in spec.items()}


def _key(key: Any) -> str:
    try:
        return plain(str(key), _LONGEST_VALUE).lower()
    except ValueError:
        raise UsageError(f"partition key {shown(key)} must be the name of a key") from None


def _value(key: str, value: Any) -> str | None:
    if value is None or value == DEFAULT_PARTITION:
        return None
    try:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return sendable(str(value), _LONGEST_VALUE)
    except ValueError:
        pass
    raise UsageError(
        f"partition value {shown(value)} of {shown(key)} must be a string, a whole number or null"
    )


def check_keys(specs: Iterable[PartitionSpec], partition_keys: Sequence[str], table: str) -> None:
    """Raise UsageError for a key that is not a partition key of the table."""
    known = {key.lower() for key in partition_keys}
    for spec in specs:
        for key in spec:
            if key not in known:
                keys = ", ".join(partition_keys) or "no keys at all"
                raise UsageError(f"'{key}' is not a partition key of {table}, which is partitioned by {keys}")


def matches(spec: PartitionSpec, unit: Unit) -> bool:
    """Tell whether a spec matches a unit. Values are compared as text, as in the metastore: `01` is not `1`."""
    values = {key.lower(): value for key, value in unit.spec}
    return all(key in values and values[key] == value for key, value in spec.items())  # guard: values_as_text


def select(
    units: Sequence[Unit], specs: Sequence[PartitionSpec], table: str
) -> tuple[list[Unit], list[PartitionSpec]]:
    """Return the units that match any of the specs, and the specs that match none.

    Raises:
        UsageError: none of the specs matches a unit: that is likely a mistake.
    """
    missing = [spec for spec in specs if not any(matches(spec, unit) for unit in units)]
    if specs and len(missing) == len(specs):
        more = f", nor do the {len(specs) - 1} others" if len(specs) > 1 else ""
        raise UsageError(f"partition {text_of(specs[0])} does not exist in {table}{more}")
    return [unit for unit in units if any(matches(spec, unit) for spec in specs)], missing


def text_of(spec: Mapping[str, str | None]) -> str:
    """Return a spec as a person gives it."""
    return json.dumps(dict(spec), ensure_ascii=False)


def pick(
    units: Sequence[Unit], wanted: Iterable[Mapping[str, str | None]], keys: Sequence[str]
) -> tuple[list[Unit], list[PartitionSpec]]:
    """Find the wanted units, each once.

    Returns:
        The units that exist, and the specs of those that do not exist any more.

    Raises:
        UsageError: a spec does not have exactly the partition keys of the table, in upper or lower case. It could mean
            another unit.
    """
    by_key = {unit_key(unit.to_json(), keys): unit for unit in units}
    specs = (_complete_spec(values, keys) for values in wanted)
    asked = {unit_key(spec, keys): spec for spec in specs}
    partitions = [by_key[key] for key in asked if key in by_key]
    return partitions, [spec for key, spec in asked.items() if key not in by_key]


def _complete_spec(values: Mapping[str, str | None], keys: Sequence[str]) -> PartitionSpec:
    given = {key.lower(): _value(key, value) for key, value in values.items()}
    if given.keys() != {key.lower() for key in keys}:
        raise UsageError(
            f"unit {dict(values)} does not name exactly the partition keys {', '.join(keys) or '(none)'}"
        )
    return {key: given[key.lower()] for key in keys}


def match_tables(names: Iterable[str], include: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """Return the table names that match shell globs, sorted. Without `include`, all names match it."""

    def wanted(name: str) -> bool:
        included = not include or any(fnmatch.fnmatchcase(name, glob.lower()) for glob in include)
        return included and not any(fnmatch.fnmatchcase(name, glob.lower()) for glob in exclude)

    return sorted(name for name in names if wanted(name))
