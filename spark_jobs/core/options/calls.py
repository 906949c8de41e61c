"""The keyword arguments of the Python API, as a parsed command line has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.options.definitions import OPTIONS
from spark_jobs.core.options.layers import check_names
from spark_jobs.core.values.layout import check_run_id


def invocation(
    verb: str,
    table: str | None,
    tables: Sequence[str] | None,
    database: str | None,
    options: Mapping[str, Any],
    *,
    location: str | None = None,
    plan: str | None = None,
    **own: Any,
) -> Invocation:
    """Return what a command line with these arguments would be parsed to.

    Args:
        options: by the names that they have in the YAML file. One that is None was not given.
        own: the attributes of `Invocation` that only this verb has.

    Raises:
        UsageError: not exactly one of tables, database, location and plan is given; or an option is unknown, or is one
            of another verb. Values are checked when all layers of options are merged.
    """
    named = {"table": table, "tables": tables, "database": database, "location": location, "plan": plan}
    names = [name for name, value in named.items() if value]
    if len(names) != 1:
        what = f"{' and '.join(names)} are given" if names else "nothing is named"
        raise UsageError(f"{what}: name a table, several tables, or a database")
    if isinstance(tables, str):
        raise UsageError(f"tables = {tables!r} must be a list of names")
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    _check(verb, given)
    run_id = own.pop("run_id", None)
    return Invocation(
        verb=verb,
        tables=(table,) if table else tuple(tables or ()),
        database=database or None,
        options=given,
        run_id=None if run_id is None else check_run_id(run_id),
        request=None,
        report=None,
        location=location,
        plan=plan,
        **{"config_file": None, **own},
    )


def _check(verb: str, given: Mapping[str, Any]) -> None:
    check_names(given, f"the arguments of {verb}")
    for name in given:
        option = OPTIONS[name]
        if option.flag and verb not in option.verbs:
            raise UsageError(f"{name} is an option of {', '.join(option.verbs)}, and not of {verb}")


def _plain(value: Any) -> Any:
    """Return the value as a YAML file has it: durations and times are text there."""
    if isinstance(value, timedelta):
        return f"{int(value.total_seconds())}s"
    return value.isoformat() if isinstance(value, datetime) else value
