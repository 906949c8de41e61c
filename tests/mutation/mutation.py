"""A guard, and what the code looks like without it. Values only."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.guards import GuardNotFound, Product, Sources
from tests.mutation.operators import Operator

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mutation:
    """One guard removed; where a second layer would catch what it lets through, that goes too.

    `id` is the hazard's, with a word where it has several guards; of `tests` at least one must fail. `env` is `model`
    for tests without Spark, `spark` for those on a real one, `provider` for those of the provider, and `pages` for
    those that start Airflow's API server, and must set its home before anything imports it.
    """

    id: str
    what: str
    edits: tuple[Operator, ...]
    tests: tuple[str, ...]
    env: str = "model"

    @property
    def hazard(self) -> str:
        return self.id.split("-")[0]

    def check(self, read: Sources) -> None:
        """Raises GuardNotFound where a guard is not where, or not what, it was."""
        self._edited(read)

    def texts(self, read: Sources) -> dict[str, str]:
        """The files of a checkout as they are without the guard."""
        texts = self._edited(read).texts()
        for path, text in texts.items():
            compile(text, path, "exec")
        return texts

    def _edited(self, read: Sources) -> Product:
        product = Product(read)
        try:
            guards = [product.guard(edit.guard) for edit in self.edits]
            for edit, guard in zip(self.edits, guards, strict=True):
                edit.apply(guard)
        except GuardNotFound as error:
            raise GuardNotFound(f"mutation {self.id}: {error}\nEdit {_table(self.id)}.") from None
        return product


def of_provider(name: str, what: str, edit: Operator, test: str) -> Mutation:
    return Mutation(name, what, (edit,), (test,), "provider")


def _table(name: str) -> str:
    """The file that holds the mutation of this id."""
    found = [file.name for file in sorted(_HERE.glob("hazards_*.py")) if f'"{name}"' in file.read_text()]
    return f"tests/mutation/{found[0] if found else 'hazards_*.py'}"


#: Bytecode is told from its source by size and whole seconds: no two mutated texts may have the same.
_SECONDS = itertools.count(1)


@contextmanager
def applied(root: Path, mutation: Mutation) -> Iterator[None]:
    """A checkout without the guard; with it again afterwards."""
    texts = mutation.texts(Sources(root))
    originals = {path: ((root / path).read_text(), (root / path).stat().st_mtime) for path in texts}
    try:
        later = next(_SECONDS)
        for path, text in texts.items():
            _write(root / path, text, originals[path][1] + later)
        yield
    finally:
        for path, (text, mtime) in originals.items():
            _write(root / path, text, mtime)


def _write(file: Path, text: str, mtime: float) -> None:
    file.write_text(text)
    os.utime(file, (mtime, mtime))
