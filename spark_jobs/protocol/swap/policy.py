"""What a swap assumes about its table and the writers of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.messages.remedies.verbs import is_dropped
from spark_jobs.core.messages.remedies.writers import say_how_they_write
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values import ddl
from spark_jobs.core.values.model import Unit
from spark_jobs.core.values.other_writers import WriterRules
from spark_jobs.protocol.swap.later_runs import LaterRuns
from spark_jobs.protocol.swap.locations import is_registered

log = logging.getLogger("lakekeeper")


def _unknown(_: Unit) -> int | None:
    return None


@dataclass(frozen=True)
class SwapPolicy:
    """The assumptions of a swap about the table and its writers.

    Attributes:
        locations: the metastore's locations by unit key, as of the start of the job.
        writers: how writers of this table treat a directory that they recreate (`append`, `overwrite`; None: unknown).
        ask: reads the locations from the metastore again.
        footers: files have footers, so that a closed file is never opened again.
        rules: say which files of other writers are pending.
        table: the name of the table, for messages.
        target: the flag that names the table on the command line of a job, for messages.
        later: the runs at the table's location, for messages.
        created: returns when the metastore had made a partition, as of the start of the job; None if it is not known.
    """

    locations: Mapping[str, str] = field(default_factory=dict)
    writers: str | None = None
    ask: Callable[[], Mapping[str, str]] | None = None
    footers: bool = True
    rules: WriterRules = field(default_factory=WriterRules)
    table: str = ""
    target: str = ""
    later: LaterRuns | None = None
    created: Callable[[Unit], int | None] = _unknown

    @property
    def dropped(self) -> bool:
        """Tell whether the table was dropped, so that nothing can be set or restored by its name."""
        return is_dropped(self.target)

    def writers_advice(self) -> str:
        """Return how a person says what writers of the table do."""
        return say_how_they_write(self.target, ddl.set_property(self.table, "lakekeeper.writers", "append"))

    def registered(self, swap: Swap) -> bool:
        """Return whether the metastore had a unit at the live path at the start of the job."""
        return is_registered(swap, self.locations)

    def still_registered(self, swap: Swap) -> bool:
        """Return whether the metastore has a unit at the live path now.

        If the metastore does not answer, the locations as of the start of the job count.
        """
        try:
            paths = self.ask() if self.ask else self.locations
        except LakekeeperError as error:
            log.warning("the metastore does not answer, the locations read before are used: %s", error)
            paths = self.locations
        return is_registered(swap, paths)
