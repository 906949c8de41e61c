"""Search of all that was produced for secrets, and for what a text would have left if it had been executed."""

from __future__ import annotations

import base64
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hostile.corpus import MARKER, SECRETS

#: The part of each secret that no escape changes.
_WORD = re.compile(r"c4nary\w+")
#: Characters that begin a line of a log, or that a terminal acts on. A report of several lines has line feeds.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def words(secrets: Mapping[str, str] = SECRETS) -> dict[str, str]:
    """Return the word by which each secret is known, by place."""
    return {place: found[0] for place, text in secrets.items() if (found := _WORD.search(text))}


def _forms(word: str) -> Iterator[bytes]:
    """Yield what a file may have of a word: as text, in UTF-16, in base64 at each offset, in hexadecimal."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        yield word.encode(encoding)
    yield word.encode().hex().encode()
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + word.encode())
        # Without what depends on the neighbours.
        yield encoded[4 if offset else 0 : len(encoded) - 4]


@dataclass
class Search:
    """What was searched, and what was found.

    Attributes:
        searched: how many texts and files, by the kind of the place.
        found: kind of place, name, and place of the secret.
    """

    secrets: Mapping[str, str] = field(default_factory=words)
    searched: Counter[str] = field(default_factory=Counter)
    found: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._patterns = {
            place: re.compile(b"|".join(map(re.escape, _forms(word)))) for place, word in self.secrets.items()
        }

    def bytes(self, kind: str, name: str, content: bytes) -> None:
        """Search bytes, and what they are when they are decompressed."""
        self.searched[kind] += 1
        for data in (content, *_decompressed(content)):
            for place, pattern in self._patterns.items():
                if pattern.search(data):
                    self.found.append((kind, name, place))

    def text(self, kind: str, name: str, content: Any) -> None:
        """Search a text, or the text of any value."""
        shown = content if isinstance(content, str) else repr(content)
        self.bytes(kind, name, shown.encode("utf-8", "surrogatepass"))

    def files(self, kind: str, folder: Path) -> None:
        """Search the names and the content of all files below a folder, hidden ones too."""
        for path, folders, files in os.walk(folder):
            for name in (*folders, *files):
                self.text(f"names of {kind}", path, name)
            for name in files:
                file = Path(path, name)
                if file.is_file():
                    self.bytes(kind, str(file), file.read_bytes())


def _decompressed(content: bytes) -> Iterator[bytes]:
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    elif content[:1] == b"\x78":
        try:
            yield zlib.decompress(content)
        except zlib.error:
            return


def executed(*folders: Path) -> list[Path]:
    """Return what a command of a text has left in these folders."""
    return [found for folder in folders for found in folder.rglob(f"*{MARKER}") if found.name == MARKER]
