"""Wait for a maintenance window without holding a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from lakekeeper_provider.compat import BaseTrigger, TriggerEvent, utcnow
from lakekeeper_provider.options.window import MaintenanceWindow

_NAP = 60.0  # the clock may be set, so never sleep to the opening in one go


class MaintenanceWindowTrigger(BaseTrigger):
    """Fire once the window is open.

    Args:
        window: the fields of a ``MaintenanceWindow``
    """

    def __init__(self, window: Mapping[str, Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.window = dict(window)

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how the triggerer builds this trigger again."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"window": self.window}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Sleep until the window opens."""
        window = MaintenanceWindow.of(self.window)
        while not window.contains(now := utcnow()):
            await asyncio.sleep(min(_NAP, (window.next_open(now) - now).total_seconds()))
        yield TriggerEvent({"opened": now.isoformat()})
