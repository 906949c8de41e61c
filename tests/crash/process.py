"""What makes a run of the jobs repeatable: random ids, the wall clock and locks as the model has them.

The jobs take time and threads from their cluster, yet a few modules ask Python itself; while a process of the model
acts, Python answers for that process.
"""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any
from unittest import mock

from spark_jobs.protocol.measuring import clock as system_clock
from tests.crash.model_pool import CooperativeLock, CooperativeRLock

if TYPE_CHECKING:
    from tests.crash.simulated_cluster import Client

_acting: list[Client] = []
_PATCHES = ExitStack()


class _Threading:
    """The module `threading`, but for its locks."""

    Lock = CooperativeLock
    RLock = CooperativeRLock

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


class _Datetime(datetime):
    """`datetime` whose `now` is the acting process's."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return _acting[-1].clock.now().astimezone(tz or timezone.utc)


def _uuid4() -> uuid.UUID:
    return uuid.UUID(int=_acting[-1].random.getrandbits(128), version=4)


@contextmanager
def acting_as(client: Client) -> Iterator[None]:
    """Python answers for this process; processes nest where one acts inside another one's hook.

    One that was paused may end inside another one's hook. So each removes its own entry, and the last one the patches.
    """
    if not _acting:
        _patch(_PATCHES)
    _acting.append(client)
    try:
        yield
    finally:
        _acting.reverse()
        _acting.remove(client)
        _acting.reverse()
        if not _acting:
            _PATCHES.close()


def _patch(stack: ExitStack) -> None:
    stack.enter_context(mock.patch.object(uuid, "uuid4", _uuid4))
    stack.enter_context(mock.patch.object(system_clock, "datetime", _Datetime))
    for module in _modules_with_locks():
        stack.enter_context(mock.patch.object(module, "threading", _Threading()))


@cache
def _modules_with_locks() -> list[ModuleType]:
    """Those of the jobs that make locks of their own; asked for once all verbs are imported."""
    import tests.crash.scenario  # noqa: F401

    jobs = [module for name, module in sys.modules.items() if name.startswith("spark_jobs.")]
    return [module for module in jobs if hasattr(module, "threading")]
