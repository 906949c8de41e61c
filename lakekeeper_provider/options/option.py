"""One option of the jobs, as the operators, the command line and the YAML file know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.options.parsers import Parser

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
FORGET, CHECK, PLAN = "forget", "check", "plan"
#: The verb that works on no tables, and has no options of theirs.
DOCTOR = "doctor"
VERBS = (ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, HISTORY, FORGET, CHECK)
#: The layers that may set an option, by the names that the jobs give them.
SECTION_OF_A_TABLE, BY_PLAN = "section of a table", "plan"


@dataclass(frozen=True)
class Flag:
    """A flag of the command line.

    Args:
        name: such as ``--dry-run``
        verbs: those that have it
        metavar: stands for the value in ``--help``; None for a boolean, or where the values are few
        off: of a boolean, the flag that sets it to false
    """

    name: str
    verbs: tuple[str, ...] = VERBS
    metavar: str | None = None
    off: str | None = None


@dataclass(frozen=True)
class Option:
    """One option.

    Args:
        key: its name in the request, in the YAML file and, behind ``lakekeeper.``, as a property of a table
        parse: returns the typed value of a Python object, a YAML value or a rendered template
        default: the job's own default; None where the job has a rule instead
        help: one line for ``--help``, operators, README and the YAML template, without the default
        layers: those that may set it
        level: who needs it: ``daily``, ``tuning`` or ``rare``
        flag: its flag on the command line; None where only the request carries it
        section: where the YAML template has it; None where the YAML file cannot set it
        note: what the YAML template says besides
        example: the value in the YAML template, where the default cannot be written there
        explicit: empty text is an error, and does not mean "not given": the option limits what is deleted
    """

    key: str
    parse: Parser
    default: Any
    help: str
    layers: tuple[str, ...]
    level: str
    flag: Flag | None = None
    section: str | None = None
    note: str = ""
    example: Any = None
    explicit: bool = False

    @property
    def per_table(self) -> bool:
        """Tell whether the section ``tables`` of the YAML file may set it."""
        return SECTION_OF_A_TABLE in self.layers

    @property
    def planned(self) -> bool:
        """Tell whether a plan may set it: it chooses or sizes work."""
        return BY_PLAN in self.layers
