"""The admission of a running job, which its tables and threads share."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spark_jobs.core.planning.admission import Admission
from spark_jobs.core.planning.decisions import Defer
from spark_jobs.core.values.amount import Amount


class JobAdmission:
    """The admission as it is now. Each change replaces the value.

    Attributes:
        now: the value, which never changes itself.
    """

    def __init__(self, now: Admission) -> None:
        self.now = now
        self._lock = threading.Lock()

    def update(self, change: Callable[[Admission], Admission]) -> Admission:
        """Replace the value by what follows from it, and return the new one."""
        with self._lock:
            self.now = change(self.now)
            return self.now

    def take(self, ask: Callable[[Admission], tuple[Defer | None, Admission]]) -> Defer | None:
        """Ask for something that is taken if it is granted. Return the deferral, or None."""
        with self._lock:
            deferral, self.now = ask(self.now)
            return deferral

    def growth(self, planned: Amount | None, now: Amount | None) -> Defer | None:
        """Return whether a unit is deferred whose files have become more since the plan."""
        return self.take(lambda admission: admission.growth(planned, now))
