"""One message a night, through a notifier of Airflow, if a person can do something about what the night has left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from lakekeeper_provider.options.option_parsers import bytes_of, size
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report.backlog import Backlog
from lakekeeper_provider.report.overview import Overview
from lakekeeper_provider.report.units import human

log = logging.getLogger(__name__)

Notifier = Callable[[Any], Any]
#: How many tables are named; the others are counted.
_NAMED = 20
_SIZE = size("1b", "1048576tb")


def limit(held_over: str | None) -> float | None:
    """Return the bytes of a size such as ``10tb``.

    Raises:
        UsageError: it is no size
    """
    return None if held_over is None else bytes_of(_SIZE.parse("held_over", held_over))


def message(
    night: Overview,
    backlog: Backlog,
    held_over: float | None = None,
    *,
    failed: Sequence[str] = (),
    overdue: Collection[str] = (),
) -> dict[str, str] | None:
    """Return subject and text of the message about a night; None if nobody needs to read it.

    Args:
        held_over: more bytes of originals than that are a reason to write
        failed: the tasks of the night that have failed
        overdue: tables that have waited in so many nights that a person should look at them
    """
    problems, reasons = night.problems(overdue), []
    # One of the lines stands for all tables that are not listed.
    count = len(problems) + max(night.not_listed - 1, 0)
    if count:
        reasons.append(f"{count:,} {'table needs' if count == 1 else 'tables need'} a look")
    if failed:
        reasons.append(f"{', '.join(failed)} failed")
    if backlog.grows:
        reasons.append("the backlog grows")
    if held_over is not None and night.held_bytes > held_over:
        reasons.append(f"{human(night.held_bytes)} of originals are held, more than {human(held_over)}")
    if not reasons:
        return None
    named = problems[:_NAMED]
    more = [f"... and {len(problems) - _NAMED} more"] if len(problems) > _NAMED else []
    lines = [night.line, *named, *more, backlog.line, night.held_line]
    return {
        "subject": f"lakekeeper: {', '.join(reasons)}",
        "text": "\n".join(one_line(line) for line in lines if line),
    }


def notify(
    notifiers: Notifier | Iterable[Notifier] | None,
    found: Mapping[str, str] | None,
    context: Mapping[str, Any],
) -> bool:
    """Send a message, and tell whether any notifier took it. An error is logged: the work of the night is done.

    A notifier finds subject and text as ``{{ lakekeeper.subject }}`` and ``{{ lakekeeper.text }}`` in its templates.

    Args:
        notifiers: notifiers of Airflow, such as ``SmtpNotifier``, or functions that take a context like callbacks
    """
    if found is None or notifiers is None:
        return False
    each: Iterable[Any] = (
        [notifiers] if callable(notifiers) or not isinstance(notifiers, Iterable) else notifiers
    )
    return any([_sent(notifier, found, context) for notifier in each])


def _sent(notifier: Any, found: Mapping[str, str], context: Mapping[str, Any]) -> bool:
    try:
        notifier({**context, "lakekeeper": dict(found)})
    except Exception as error:
        log.warning("the message about this night could not be sent: %s", error)
        return False
    return True
