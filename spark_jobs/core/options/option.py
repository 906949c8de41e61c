"""The description of one option of the jobs. The table of all options is `core/options/definitions.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spark_jobs.core.options.parsers import one_of, parse_bool

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
FORGET, CHECK, PLAN = "forget", "check", "plan"
VERBS = (ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, HISTORY, FORGET, CHECK)


class TableProperty(Enum):
    """The effect of the table property `lakekeeper.<option>`. Each user who may alter the table can set it."""

    SET = "it sets the option"
    LENGTHEN = "it may only require more than the configuration"
    FORBIDDEN = (
        "it is refused: the option concerns more than this table, or protects the originals from its owner"
    )


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        parse: returns the typed value of a string, a JSON or a YAML value. Raises ValueError with the expected form.
        help: one line for `--help`, without the default.
        flag: its flag on the command line; None if only a file or a request can set it.
        off_flag: the flag that sets a boolean to false.
        verbs: the verbs that have the flag.
        metavar: the placeholder of the value in `--help`; None for a boolean, or if there are `choices`.
        choices: the allowed values, if there are few.
        group: flags of one group exclude each other.
        table_property: what the table property for the option may do.
    """

    parse: Callable[[Any], Any]
    help: str
    flag: str | None = None
    off_flag: str | None = None
    verbs: tuple[str, ...] = VERBS
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    group: str | None = None
    table_property: TableProperty = TableProperty.SET


def option(default: Any, parse: Callable[[Any], Any], help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(parse, help, **more)})


def switch(help: str, *, default: bool = False, **more: Any) -> Any:
    return option(default, parse_bool, help, **more)


def choice(default: str | None, choices: tuple[str, ...], help: str, **more: Any) -> Any:
    return option(default, one_of(*choices), help, choices=choices, **more)
