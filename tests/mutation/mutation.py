"""A guard, and what the code looks like without it. Values only."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class GuardMoved(AssertionError):
    """The text of a guard is not in its file exactly once any more: the mutation has to be written anew."""


@dataclass(frozen=True)
class Edit:
    """`before`, which occurs exactly once in the file, becomes `after`."""

    path: str
    before: str
    after: str

    def apply(self, text: str) -> str:
        count = text.count(self.before)
        if count != 1:
            raise GuardMoved(
                f"the guard has moved: {self.path} holds {count} times, and not once:\n{self.before}"
            )
        return text.replace(self.before, self.after)


@dataclass(frozen=True)
class Mutation:
    """One guard removed; where a second layer would catch what it lets through, that goes too.

    `id` is the hazard's, with a word where it has several guards; of `tests` at least one must fail. `env` is `model`
    for tests without Spark, and `spark` for those on a real one.
    """

    id: str
    what: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    env: str = "model"

    @property
    def hazard(self) -> str:
        return self.id.split("-")[0]

    def check(self, root: Path) -> None:
        """Raises GuardMoved where the guard is not what it was."""
        self.texts(root)

    def texts(self, root: Path) -> dict[str, str]:
        """The files of a checkout as they are without the guard."""
        found = {edit.path: (root / edit.path).read_text() for edit in self.edits}
        for edit in self.edits:
            found[edit.path] = edit.apply(found[edit.path])
        return found


#: Bytecode is told from its source by size and whole seconds: no two mutated texts may have the same.
_SECONDS = itertools.count(1)


@contextmanager
def applied(root: Path, mutation: Mutation) -> Iterator[None]:
    """A checkout without the guard; with it again afterwards."""
    files = {path: root / path for path in mutation.texts(root)}
    originals = {path: (file.read_text(), file.stat().st_mtime) for path, file in files.items()}
    try:
        later = next(_SECONDS)
        for path, text in mutation.texts(root).items():
            _write(files[path], text, originals[path][1] + later)
        yield
    finally:
        for path, (text, mtime) in originals.items():
            _write(files[path], text, mtime)


def _write(file: Path, text: str, mtime: float) -> None:
    file.write_text(text)
    os.utime(file, (mtime, mtime))
