"""The description of one option of the jobs. The table of all options is `core/options/definitions.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spark_jobs.core.options.parsers import SWITCH, Parser, one_of

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
FORGET, CHECK, PLAN = "forget", "check", "plan"
#: The verb that works on no tables, and has no options of theirs.
DOCTOR = "doctor"
VERBS = (ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, HISTORY, FORGET, CHECK)


class Layer(Enum):
    """A layer that options come from. The value is its name for a person."""

    ARGUMENT = "argument"
    FILE = "file"
    SECTION = "section of a table"
    PLAN = "plan"
    PROPERTY = "table property"


#: The layers of most options. Each user who may alter a table can set its properties.
ANYWHERE = (Layer.ARGUMENT, Layer.FILE, Layer.SECTION, Layer.PROPERTY)
#: An option that chooses or sizes work: a plan says with which value it was made, so that a compaction does the same.
CARRIED_BY_PLAN = (Layer.ARGUMENT, Layer.FILE, Layer.SECTION, Layer.PLAN, Layer.PROPERTY)
#: It concerns more than one table, or protects files from the table's owner.
NO_PROPERTY = (Layer.ARGUMENT, Layer.FILE, Layer.SECTION)
#: It counts over all tables of a job.
OF_THE_JOB = (Layer.ARGUMENT, Layer.FILE)
#: It is about one call.
OF_THE_CALL = (Layer.ARGUMENT,)
#: Only the table's owner knows it.
OF_THE_TABLE = (Layer.PROPERTY,)


class Level(str, Enum):
    """Who needs an option: help and documentation show the levels one after the other."""

    DAILY = "options for every day"
    TUNING = "options for tuning"
    RARE = "rare options"


class Section(str, Enum):
    """The sections of the configuration file, in its order, by their titles."""

    SELECTION = "What to compact"
    LIMITS = "How much, and in which order"
    REWRITE = "How to compact"
    BACKUP = "Backups, rollback and cleanup"
    CONCURRENCY = "Other jobs and other writers"
    JOB = "The job"


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        parse: returns the typed value of a string, a JSON or a YAML value. Raises ValueError with the allowed values.
        help: one line for `--help`, without the default.
        flag: its flag on the command line; None if only a file or a request can set it.
        off_flag: the flag that sets a boolean to false.
        verbs: the verbs that have the flag.
        metavar: the placeholder of the value in `--help`; None for a boolean, or if there are `choices`.
        choices: the allowed values, if there are few.
        group: flags of one group exclude each other.
        layers: those that may set it.
        lengthens: a table property may only require more than the configuration.
        unreadable: what a table property means whose value is not allowed, where ignoring it could lose what its owner
            wants to keep; None if it is ignored.
        too_weak: values that a table property cannot set.
        section: its place in the configuration file; None if a file cannot set it.
        note: what the configuration file says besides.
        example: the value in the template of the file, if the default cannot be written there.
        limits_deletion: an operator's argument that is an empty text is an error, and does not mean "not given".
    """

    parse: Parser
    help: str
    flag: str | None = None
    off_flag: str | None = None
    verbs: tuple[str, ...] = VERBS
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    group: str | None = None
    layers: tuple[Layer, ...] = ANYWHERE
    lengthens: bool = False
    unreadable: Any = None
    too_weak: tuple[str, ...] = ()
    level: Level = Level.TUNING
    section: Section | None = None
    note: str = ""
    example: Any = None
    limits_deletion: bool = False

    def setters(self) -> str:
        """Return the layers that may set it, for messages."""
        return ", ".join(layer.value for layer in self.layers)


def option(default: Any, parse: Parser, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(parse, help, **more)})


def switch(help: str, *, default: bool = False, **more: Any) -> Any:
    return option(default, SWITCH, help, **more)


def choice(
    default: str | None, choices: tuple[str, ...], help: str, *, fold: Callable[[str], str] = str, **more: Any
) -> Any:
    return option(default, one_of(*choices, fold=fold), help, choices=choices, **more)
