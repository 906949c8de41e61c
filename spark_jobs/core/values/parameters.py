"""The parameters of a unit in the metastore, and changes of a few of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Optional

from spark_jobs.core.values.model import DEFAULT_PARTITION, Spec, Unit

#: Values by name; None for a parameter that is not there.
Values = Mapping[str, Optional[str]]

#: The characters that Hive writes as `%` and two digits in the name of a partition (`FileUtils.escapePathName`).
_ESCAPED = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")


@dataclass(frozen=True)
class UnitParameters:
    """A partition, or a table without partitions, as the metastore has it: its location, and all of its parameters."""

    location: str
    parameters: Mapping[str, str]

    def values(self, names: Collection[str]) -> dict[str, str | None]:
        return {name: self.parameters.get(name) for name in names}


@dataclass(frozen=True)
class ParameterChange:
    """New values of a few parameters of a unit.

    Attributes:
        seen: what the change was decided by. If the metastore has anything else by now, it is not made.
    """

    unit: Unit
    seen: UnitParameters
    values: Values

    def fits(self, now: UnitParameters | None) -> bool:
        """Tell whether the unit is still what was seen. The metastore itself compares nothing when it is written."""
        return now == self.seen  # guard: changed_parameters_left_alone


def partition_values(spec: Spec) -> tuple[str, ...]:
    """Return the values of a partition as the metastore has them."""
    return tuple(value or DEFAULT_PARTITION for _, value in spec)


def partition_name(spec: Spec) -> str:
    """Return the name by which the metastore finds a partition."""
    pairs = zip((key.lower() for key, _ in spec), partition_values(spec))
    return "/".join(f"{_escaped(key)}={_escaped(value)}" for key, value in pairs)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
