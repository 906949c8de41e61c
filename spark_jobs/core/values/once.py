"""A property that is computed once for each object, however many threads ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

T = TypeVar("T")


class once(cached_property[T]):
    """``functools.cached_property`` with the lock that it has before Python 3.12.

    Without it, all threads that ask at the same time compute the value: of a listing of partitions by the metastore,
    each of them would ask for its own.
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self._computing = RLock()

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        """Return the value; the object has it afterwards, so that this is not called again."""
        with self._computing:
            return super().__get__(instance, owner)
