"""Check the values of options that an operator, a command line or the YAML file gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.definitions import OPTIONS
from lakekeeper_provider.options.parsers import absent, shown, wrong

#: The options that select units. Only one of them can be given.
SELECTIONS = ("partitions", "where", "idle_for")
_ANY_AGE = re.compile(r"\s*0+\s*[smhdw]\s*")
#: What a plan tells, and a compaction takes from the table.
_TOLD = ("readers",)


def parse_options(given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return the typed options by key; one that is None was not given, and is left out.

    Args:
        where: prefix of the keys in messages

    Raises:
        UsageError: a value is wrong, or two options exclude each other
    """
    for key, value in given.items():
        if OPTIONS[key].explicit and isinstance(value, str) and absent(value):  # guard: no_empty_limit
            raise wrong(f"{where}{key}", value, "a value: without one, all originals would be deleted")
    parsed = {k: OPTIONS[k].parse(f"{where}{k}", v) for k, v in given.items() if not absent(v)}
    check_selections(parsed)
    return parsed


def options_of_plan(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a compaction takes from a plan, as the plan has them.

    Args:
        where: prefix of the keys in messages

    Raises:
        UsageError: an option is not one that chooses or sizes work, or its value is wrong
    """
    taken = {key: value for key, value in given.items() if key not in _TOLD}
    for key, value in taken.items():
        if key not in OPTIONS or not OPTIONS[key].planned:  # guard: plans_set_what_they_may
            may = ", ".join(each for each, option in OPTIONS.items() if option.planned)
            raise UsageError(f"{where}a plan cannot set {shown(key)}, but only {may}")
        if value != []:  # a table without columns to sort by
            OPTIONS[key].parse(f"{where}{key}", value)
    return taken


def check_selections(given: Mapping[str, Any]) -> None:
    """Check that units are selected in one way; ``idle_for="0s"`` selects none.

    Args:
        given: the options that are given, by key

    Raises:
        UsageError: two of them are given
    """
    selections = [key for key in SELECTIONS if key in given and not _ANY_AGE.fullmatch(str(given[key]))]
    if len(selections) > 1:
        raise UsageError(f"{' and '.join(selections)} are mutually exclusive: give one of them")
