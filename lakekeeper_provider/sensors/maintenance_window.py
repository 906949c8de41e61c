"""Wait for a maintenance window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.compat import BaseSensorOperator, Context, fail_on_usage_error, utcnow
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
    """

    template_fields: Sequence[str] = ("window", "config_file")
    ui_color = "#e6eef7"

    def __init__(
        self,
        *,
        window: MaintenanceWindow | Mapping[str, Any] | str,
        config_file: str | None = None,
        deferrable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.window = window
        self.config_file = config_file
        self.deferrable = deferrable

    def poke(self, context: Context) -> bool:
        """Return whether the window is open."""
        window, now = self._window(), utcnow()
        if window.contains(now):
            return True
        self.log.info("The maintenance window opens at %s", window.next_open(now).isoformat())
        return False

    def execute(self, context: Context) -> None:
        """Defer until the window opens, or poke if the sensor is not deferrable."""
        if not self.deferrable:
            super().execute(context)
        elif not self.poke(context):
            self.defer(
                trigger=MaintenanceWindowTrigger(self._window().as_dict()), method_name="execute_complete"
            )

    def execute_complete(self, context: Context, event: dict[str, Any] | None = None) -> None:
        """Check the window again, because the triggerer may have been late."""
        self.log.info("The trigger fired: %s", event)
        self.execute(context)

    def _window(self) -> MaintenanceWindow:
        with fail_on_usage_error():
            return config.load(given(self.config_file)).window(self.window)
