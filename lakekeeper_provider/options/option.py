"""What is said of one option of the jobs; the table of them is ``options.py``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from lakekeeper_provider.options.parsers import Parser

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
FORGET, CHECK, PLAN = "forget", "check", "plan"
VERBS = (ANALYZE, PLAN, COMPACT, ROLLBACK, CLEANUP, HISTORY, FORGET, CHECK)
#: The verbs that plan: they have the same thresholds and selections.
PLANNING = (ANALYZE, PLAN, COMPACT)


class Section(Enum):
    """The sections of the YAML template, in its order."""

    SELECTION = "What to compact"
    LIMITS = "How much, and in which order"
    REWRITE = "How to compact"
    BACKUP = "Backups, rollback and cleanup"
    CONCURRENCY = "Other jobs and other writers"
    JOB = "The job"


@dataclass(frozen=True)
class Flag:
    """
    A flag of the command line.

    :param name: such as ``--dry-run``
    :param verbs: those that have it
    :param metavar: stands for the value in ``--help``; None for a boolean, or where the values are few
    :param off: of a boolean, the flag that sets it to false
    """

    name: str
    verbs: tuple[str, ...] = VERBS
    metavar: str | None = None
    off: str | None = None


@dataclass(frozen=True)
class Option:
    """
    One option.

    :param key: its name in the request, in the YAML file and, behind ``lakekeeper.``, as a property of a table
    :param parse: returns the typed value of a Python object, a YAML value or a rendered template
    :param default: the job's own default; None where the job has a rule instead
    :param help: one line for ``--help``, README and the YAML template, without the default
    :param flag: its flag on the command line; None where only the request carries it
    :param section: where the YAML template has it; None where the YAML file cannot set it
    :param note: what the YAML template says besides
    :param example: the value in the YAML template, where the default cannot be written there
    :param per_table: whether the section ``tables`` may set it
    :param planned: whether a plan may set it: it chooses or sizes work
    :param as_property: whether the property ``lakekeeper.<key>`` of a table may set it
    :param explicit: empty text is an error, and does not mean "not given": the option limits what is deleted
    """

    key: str
    parse: Parser
    default: Any
    help: str
    flag: Flag | None = None
    section: Section | None = None
    note: str = ""
    example: Any = None
    per_table: bool = True
    planned: bool = False
    as_property: bool = True
    explicit: bool = False

    @property
    def layers(self) -> list[str]:
        """Return the layers that may set it, by the names that the jobs give them."""
        may = {
            "argument": True,
            "file": self.section is not None,
            "section of a table": self.section is not None and self.per_table,
            "plan": self.planned,
            "table property": self.as_property,
        }
        return [name for name, allowed in may.items() if allowed]
