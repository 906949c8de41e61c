"""What is said of one option of the jobs; the table of them is `core/options.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spark_jobs.core.parsers import one_of, parse_bool

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
VERBS = (ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY)


class TableProperty(Enum):
    """What the property `lakekeeper.<option>` of a table may do; whoever may alter the table sets it."""

    SET = "it sets the option"
    LENGTHEN = "it may only ask for more than the configuration does"
    FORBIDDEN = (
        "it is refused: the option is about more than this table, or protects the originals from its owner"
    )


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        parse: returns the typed value of a text, a JSON or a YAML value; raises ValueError with what to write instead.
        help: one line for `--help`, without the default.
        flag: its flag on the command line; None where only a file or a request carries it.
        off_flag: of a boolean, the flag that sets it to false.
        verbs: those whose command line has the flag.
        metavar: stands for the value in `--help`; None for a boolean, or where there are `choices`.
        choices: the values that are allowed, where they are few.
        group: flags of one group exclude each other.
        table_property: what a table's property may do.
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
