"""Wait until a table has too many small files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakekeeper_provider.compat import BaseSensorOperator, Context, PokeReturnValue
from lakekeeper_provider.operators import xcom
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.options.window import MaintenanceWindow


class _WindowClosed(Exception):
    """The window is closed; the next poke checks it again."""


class SmallFilesSensor(BaseSensorOperator, AnalyzeOperator):
    """Wait until an analysis flags something, and return it for ``CompactOperator(analysis=...)``.

    Nothing is submitted while ``window`` is closed. Every poke in the open window runs a Spark job, so use a long
    ``poke_interval``. Partitions that have not changed since the poke before are neither listed nor read, in tables
    that were compacted before or have 1,000 partitions or more; others are listed. Accepts the arguments of
    ``AnalyzeOperator``, among them ``idle_for`` and the ``trigger`` conditions, and those of a sensor.

    Args:
        poke_interval: seconds between two pokes (3600)
        mode: ``reschedule`` frees the worker between pokes (default), ``poke`` does not
    """

    template_fields: Sequence[str] = AnalyzeOperator.template_fields
    ui_color = "#e6eef7"

    def __init__(self, *, poke_interval: float = 3600, mode: str = "reschedule", **kwargs: Any) -> None:
        super().__init__(poke_interval=poke_interval, mode=mode, **kwargs)

    def poke(self, context: Context) -> PokeReturnValue:
        """Analyse if the window is open."""
        try:
            analysis = self.run_job(context)
        except _WindowClosed as closed:
            self.log.info("%s", closed)
            return PokeReturnValue(is_done=False)
        flagged = any(map(xcom.has_flagged_units, analysis["tables"]))
        return PokeReturnValue(is_done=flagged, xcom_value=analysis)

    def wait(self, window: MaintenanceWindow, message: str) -> None:
        """End this poke; the sensor waits with its own interval and mode."""
        raise _WindowClosed(message)
