"""The checks of the verb `doctor`: what was tried, what was found, and what a person does about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spark_jobs.core.messages.errors import LakekeeperError, in_one_line
from spark_jobs.core.messages.outcomes import CheckOutcome
from spark_jobs.core.messages.printable import printable

#: Where the checks of a job are made. The caller of the job makes others on its own machine.
_WHERE = "driver"


class Answer(NamedTuple):
    """What a check has found.

    Attributes:
        action: what a person does about it; None if there is nothing to do.
    """

    outcome: CheckOutcome
    found: str
    action: str | None = None


def good(found: str) -> Answer:
    return Answer(CheckOutcome.GOOD, found)


def bad(found: str, action: str) -> Answer:
    return Answer(CheckOutcome.BAD, found, action)


def advice(found: str, action: str) -> Answer:
    return Answer(CheckOutcome.ADVICE, found, action)


def not_asked(because: str) -> Answer:
    return Answer(CheckOutcome.NOT_ASKED, f"not asked here, because {because}")


@dataclass(frozen=True)
class Question:
    """One check.

    Attributes:
        name: a stable word of the wire.
        tried: what is tried, for a person.
        ask: makes the check. Any error in it is what was found.
        action: what a person does about an error.
        needs: the checks before it without which it would only fail, too.
    """

    name: str
    tried: str
    ask: Callable[[], Answer]
    action: str
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class Check:
    """A question and its answer."""

    name: str
    tried: str
    answer: Answer

    @property
    def is_bad(self) -> bool:
        return self.answer.outcome is CheckOutcome.BAD

    def to_json(self) -> dict[str, Any]:
        action = self.answer.action
        return {
            "check": self.name,
            "where": _WHERE,
            "outcome": self.answer.outcome,
            "tried": printable(self.tried),
            "found": printable(self.answer.found),
            "action": None if action is None else printable(action),
        }

    def text(self) -> str:
        """Return the check for a person."""
        data = self.to_json()
        line = f"{data['outcome']:<9} {self.name}: {data['tried']}: {data['found']}"
        return f"{line}\n          -> {data['action']}" if data["action"] else line


def answered(questions: Iterable[Question]) -> Iterator[Check]:
    """Yield the checks. One that fails prevents only those that need it."""
    answers: dict[str, Answer] = {}
    for question in questions:
        missing = next(filter(None, (_missing(need, answers) for need in question.needs)), None)
        answers[question.name] = missing or _answer(question)
        yield Check(question.name, question.tried, answers[question.name])


def _missing(name: str, answers: Mapping[str, Answer]) -> Answer | None:
    """Return the answer of a question that needs this check; None if it can be asked."""
    answer = answers[name]
    if answer.outcome is CheckOutcome.BAD:
        return not_asked(f"the check {name} is bad")
    return answer if answer.outcome is CheckOutcome.NOT_ASKED else None


def _answer(question: Question) -> Answer:
    try:
        return question.ask()
    except (LakekeeperError, OSError) as error:
        return bad(str(error), question.action)
    except Exception as error:
        return bad(in_one_line(error), question.action)
