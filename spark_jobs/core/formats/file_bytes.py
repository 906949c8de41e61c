"""The bytes of a file, as the walks through the containers of Avro and Hadoop read them."""

from __future__ import annotations

import hashlib
from typing import Protocol

from spark_jobs.core.messages.errors import Unreadable


class FileBytes(Protocol):
    """The bytes of one file.

    Attributes:
        name: for messages.
        size: in bytes.
    """

    name: str
    size: int

    def at(self, start: int, length: int) -> bytes:
        """Return the bytes from `start` on, at most `length`: fewer at the end of the file."""

    def digest(self, start: int, length: int) -> str:
        """Return the SHA-256 of these bytes, in hexadecimal digits."""


class Whole:
    """The bytes of a file that was read as a whole."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.size = len(data)
        self._data = memoryview(data)

    def at(self, start: int, length: int) -> bytes:
        return bytes(self._data[start : start + length])

    def digest(self, start: int, length: int) -> str:
        return hashlib.sha256(self._data[start : start + length]).hexdigest()


class Damaged(Unreadable):
    """A file does not have the structure of its format. The message names the file and the place."""

    def __init__(self, file: FileBytes, place: int, what: str) -> None:
        super().__init__(file.name, f"it is damaged at byte {place:,} of {file.size:,}: {what}")
