"""Exceptions of Java as py4j and PySpark show them."""

from __future__ import annotations

from collections.abc import Sequence


class _Frame:
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def getClassName(self) -> str:
        return self._owner


class _Class:
    def __init__(self, name: str) -> None:
        self._name = name

    def getName(self) -> str:
        return self._name


class JavaError:
    """An exception of Java as py4j shows it."""

    def __init__(
        self, kind: str, text: str | None, stack: Sequence[str], cause: JavaError | None = None
    ) -> None:
        self._kind, self._text, self._stack, self._cause = kind, text, stack, cause

    def getClass(self) -> _Class:
        return _Class(self._kind)

    def getClassName(self) -> str:
        return self._kind

    def getMessage(self) -> str | None:
        return self._text

    def getStackTrace(self) -> list[_Frame]:
        return [_Frame(owner) for owner in self._stack]

    def getCause(self) -> JavaError | None:
        return self._cause


class RaisedError(Exception):
    """As PySpark raises it."""

    __module__ = "pyspark.errors"

    def __init__(self, origin: JavaError) -> None:
        super().__init__("Job aborted")
        self._origin = origin
