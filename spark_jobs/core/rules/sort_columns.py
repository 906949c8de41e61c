"""The check of the columns to sort by, before anything is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.eligibility import TableFacts

_OPTION = "sort_columns"
_PROPERTY = f"lakekeeper.{_OPTION}"
#: Types of which Spark cannot sort the values, also inside of others.
_UNSORTABLE = re.compile(r"\b(map|uniontype)<|\bvariant\b")


def check_sort_columns(facts: TableFacts, columns: Sequence[str], file_format: str) -> None:
    """Raise an error if a table cannot be sorted by these columns of the option. Lines of text are never sorted.

    Raises:
        Refusal: USAGE, a property of the table names them. It is not a mistake in the call of the job.
        UsageError: the call or the configuration names them.
    """
    problem = next((text for column in columns if (text := _problem(facts, column))), None)
    if problem is None or FORMATS[file_format].lines:
        return
    by_property = facts.properties.get(_PROPERTY, "")
    if _items(by_property) == list(columns):
        raise Refusal(RefusalCode.USAGE, f"the property {_PROPERTY} = '{by_property}': {problem}")
    raise UsageError(f"{_OPTION} = '{','.join(columns)}': {problem}")


def sort_columns_of(facts: TableFacts, option: Sequence[str]) -> list[str]:
    """Return the columns to sort by: the option's, else the columns of SORTED BY in the DDL.

    A column of the DDL that the table has no more, or whose values have no order, is left out: nobody has asked for it
    now, and the declaration must not fail the table each night.
    """
    return list(option) or [column for column in facts.sorted_by if _problem(facts, column) is None]


def _items(text: str) -> list[str]:
    """Return the items of a list as the option takes it: separated by commas, or as JSON."""
    return [item for each in text.split(",") if (item := each.strip(' []"'))]


def _problem(facts: TableFacts, column: str) -> str | None:
    """Return why a table cannot be sorted by a column; None if it can."""
    types = {name.lower(): kind for name, kind in facts.columns}
    if column.lower() in {key.lower() for key in facts.partition_keys}:
        return None
    if column.lower() not in types:
        nested = " (rows are sorted by whole columns, not by fields of a struct)" if "." in column else ""
        return f"'{column}' is not a column of {facts.name}{nested}; it has {', '.join(types)}"
    if _UNSORTABLE.search(types[column.lower()].lower()):
        return f"'{column}' of {facts.name} is a {types[column.lower()]}, which has no order"
    return None
