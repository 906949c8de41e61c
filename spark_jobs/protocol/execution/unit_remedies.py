"""Which remedy ends the state of a unit that the jobs do not resolve themselves."""

from __future__ import annotations

from spark_jobs.core.messages.errors import DamagedOriginals, NoRule, OnlyCopy
from spark_jobs.core.messages.remedies import originals, verbs


def with_remedy(reason: str, error: Exception, target: str, run_id: str) -> str:
    """Return the reason, and the command that ends the state.

    Args:
        error: why a unit was left as it is.
        target: the flag that names the table (`remedies.verbs`).
        run_id: the run to which the unit's originals belong.
    """
    if isinstance(error, (DamagedOriginals, NoRule)):
        return f"{reason}. {originals.forget(target, run_id)}"
    if isinstance(error, OnlyCopy) and verbs.is_dropped(target):
        return f"{reason}. {originals.read_by_another_table()}"
    if isinstance(error, OnlyCopy):
        restore = originals.restore(target, run_id, error.place, error.in_the_way, error.statement)
        return f"{reason}. {restore}"
    return reason
