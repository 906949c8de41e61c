"""Wait for a maintenance window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from lakekeeper_provider.compat import (
    AirflowSkipException,
    BaseSensorOperator,
    Context,
    fail_on_usage_error,
    utcnow,
)
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.parsers import given
from lakekeeper_provider.options.window import MaintenanceWindow
from lakekeeper_provider.triggers.maintenance_window import MaintenanceWindowTrigger


class MaintenanceWindowSensor(BaseSensorOperator):
    """Wait until a maintenance window is open.

    Args:
        window: a ``MaintenanceWindow``, its fields as a mapping, or a name under ``windows`` of the file
        config_file: YAML file with ``windows``; read when the task runs
        deferrable: wait in the triggerer (default); otherwise as ``mode`` of the sensor says
        skip_after: skip the task, and what follows it, in a scheduled DAG run that begins so much later than it was
            due. Airflow creates the last missed run of a DAG when it is unpaused: by day it would wait for the next
            window, and hold up a run that somebody triggers by hand. A run that was cleared is not skipped
    """

    template_fields: Sequence[str] = ("window", "config_file")
    ui_color = "#e6eef7"

    def __init__(
        self,
        *,
        window: MaintenanceWindow | Mapping[str, Any] | str,
        config_file: str | None = None,
        deferrable: bool = True,
        skip_after: timedelta | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.window = window
        self.config_file = config_file
        self.deferrable = deferrable
        if skip_after is not None and (not isinstance(skip_after, timedelta) or skip_after <= timedelta(0)):
            raise UsageError(f"skip_after is {skip_after!r}: give it a timedelta that is longer than nothing")
        self.skip_after = skip_after

    def poke(self, context: Context) -> bool:
        """Return whether the window is open."""
        window, now = self._window(), utcnow()
        if window.contains(now):
            return True
        self.log.info("The maintenance window opens at %s", window.next_open(now).isoformat())
        return False

    def execute(self, context: Context) -> None:
        """Defer until the window opens, or poke if the sensor is not deferrable."""
        if self.skip_after is not None:
            self._skip_missed(context, self.skip_after)
        self._wait(context)

    def execute_complete(self, context: Context, event: dict[str, Any] | None = None) -> None:
        """Check the window again, because the triggerer may have been late."""
        self.log.info("The trigger fired: %s", event)
        self._wait(context)

    def _wait(self, context: Context) -> None:
        if not self.deferrable:
            super().execute(context)
        elif not self.poke(context):
            self.defer(
                trigger=MaintenanceWindowTrigger(self._window().as_dict()), method_name="execute_complete"
            )

    def _skip_missed(self, context: Context, after: timedelta) -> None:
        run = cast(Any, context["dag_run"])
        scheduled = str(getattr(run.run_type, "value", run.run_type)) == "scheduled"
        # A person who has cleared the run wants it.
        cleared = context["ti"].try_number > 1
        due = getattr(run, "run_after", None) or run.data_interval_end
        # A sensor that pokes executes again and again: what counts is when the run began.
        begun = getattr(run, "start_date", None) or utcnow()
        if scheduled and not cleared and due is not None and begun - due > after:
            reason = f"this run was due at {due:%Y-%m-%d %H:%M} UTC, more than {after} ago: the next one takes its work"
            # Airflow 3 shows the reason of a skip only below the log, in a part that is folded.
            self.log.info("Skipped: %s", reason)
            raise AirflowSkipException(reason)

    def _window(self) -> MaintenanceWindow:
        with fail_on_usage_error():
            return config.load(given(self.config_file)).window(self.window)
