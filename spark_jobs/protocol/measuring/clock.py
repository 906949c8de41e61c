"""The clocks of this machine, and a thread for work in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone

log = logging.getLogger("lakekeeper")


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> datetime:
        return utc_now()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def every(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        """Use a daemon thread: it must not keep a driver alive whose work has ended."""
        stopped = threading.Event()

        def renew() -> None:
            while not stopped.wait(seconds):
                act()

        thread = threading.Thread(target=renew, name="lakekeeper-heartbeat", daemon=True)
        thread.start()

        def stop() -> None:
            stopped.set()
            thread.join(timeout=seconds)

        return stop
