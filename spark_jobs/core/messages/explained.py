"""A code for users, with what has caused it and what to do."""

from __future__ import annotations

from enum import Enum


class Explained(Enum):
    """A code. Its value is the pair (cause, remedy), both in Markdown: the documentation is generated from it."""

    @property
    def cause(self) -> str:
        return str(self.value[0])

    @property
    def remedy(self) -> str:
        return str(self.value[1])
