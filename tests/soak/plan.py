"""What happens in a cycle: which job, when it is killed, who repairs. The choices follow from the seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.soak.tables import EVENTS, FLAT

#: (event to wait for, longest delay after it in seconds, weight). `gap`: a live directory is missing; `any`: at random.
AIMS: dict[str, tuple[tuple[str, float, int], ...]] = {
    "compact": (
        ("RUN", 2.5, 12),
        ("PREPARED", 0.0, 10),
        ("PREPARED", 0.05, 20),
        ("PREPARED", 0.3, 12),
        ("gap", 0.0, 12),
        ("gap", 0.02, 8),
        ("COMMITTED", 0.3, 12),
        ("BACKUP", 0.2, 4),
        ("any", 8.0, 10),
    ),
    "rollback": (
        ("ENTERED", 0.2, 1),
        ("ROLLBACK_PREPARED", 0.0, 2),
        ("ROLLBACK_PREPARED", 0.1, 4),
        ("gap", 0.01, 4),
        ("ROLLED_BACK", 0.2, 2),
        ("any", 3.0, 1),
    ),
    "cleanup": (("ENTERED", 0.2, 1), ("CLEANUP_CLAIMED", 0.15, 5), ("CLEANED", 0.1, 2), ("any", 2.0, 1)),
}

#: A job that repairs is killed in its turn.
AGAIN = (("ENTERED", 0.3, 4), ("gap", 0.0, 2), ("COMMITTED", 0.2, 2), ("any", 9.0, 2))


@dataclass(frozen=True)
class Aim:
    """Kill so long after this was seen."""

    event: str
    delay: float

    def __str__(self) -> str:
        return f"{self.event}+{1000 * self.delay:.0f}ms"


@dataclass(frozen=True)
class Plan:
    """One cycle."""

    number: int
    verb: str
    tables: tuple[str, ...]
    words: tuple[str, ...]
    files: int
    appending: bool
    kills: tuple[Aim, ...]
    repair: str
    repair_words: tuple[str, ...]

    @property
    def run_id(self) -> str:
        return f"c{self.number}"

    @property
    def repair_verb(self) -> str:
        return {"retry": self.verb, "other": "compact", "rollback": "rollback"}[self.repair]


def make_plan(seed: str, number: int) -> Plan:
    choice = random.Random(f"{seed}/{number}")
    verb = choice.choices(["compact", "rollback", "cleanup"], [70, 20, 10])[0]
    tables = choice.choices([(EVENTS,), (FLAT,), (EVENTS, FLAT)], [7, 1, 2])[0]
    words = _words(choice, verb, tables, f"c{number}")
    repair = choice.choices(["retry", "other", "rollback"], [65, 20, 15])[0]
    others = {
        "retry": words,
        "other": _words(choice, "compact", tables, f"c{number}-other"),
        "rollback": ("--tables", ",".join(tables)),
    }
    return Plan(
        number=number,
        verb=verb,
        tables=tables,
        words=words,
        files=choice.randint(2, 5),
        appending=choice.random() < 0.6,
        kills=_kills(choice, verb),
        repair=repair,
        repair_words=others[repair],
    )


def _words(choice: random.Random, verb: str, tables: tuple[str, ...], run_id: str) -> tuple[str, ...]:
    words = ("--tables", ",".join(tables), "--parallelism", choice.choice("1244"))
    return (*words, "--skip-trash") if verb == "cleanup" else (*words, "--run-id", run_id)


def _kills(choice: random.Random, verb: str) -> tuple[Aim, ...]:
    first = _aim(choice, AIMS[verb])
    return (first, _aim(choice, AGAIN)) if choice.random() < 0.15 else (first,)


def _aim(choice: random.Random, table: tuple[tuple[str, float, int], ...]) -> Aim:
    event, longest, _ = choice.choices(table, [weight for *_, weight in table])[0]
    return Aim(event, choice.uniform(0, longest))
