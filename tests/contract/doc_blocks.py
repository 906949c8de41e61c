"""The code blocks of README and documentation: what is in them, and which of them cannot be run.

A block is parsed by what would read it, unless the line above it is `<!-- not parsed: REASON -->`. Blocks of the pages
in `RUN` are run in order, unless the line above is `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(
    r"(?:^ *<!-- not (?P<not>parsed|run): (?P<why>[^\n]+) -->\n\n?)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A code block.

    Attributes:
        page: the path of its page, relative to the checkout.
        line: the number of its first line of code.
        left_out: `parsed` or `run` if it cannot be, and why; empty if it can.
    """

    page: str
    line: int
    language: str
    text: str
    left_out: str = ""
    why: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def parsed(self) -> bool:
        return self.left_out != "parsed"

    def commands(self) -> Iterator[list[str]]:
        """Return the words of each command of a shell block, without comments and redirections."""
        for line in self.text.replace("\\\n", " ").splitlines():
            words: list[str] = []
            for word in [*shlex.split(line, comments=True), ";"]:
                if word not in (";", "|", "||", "&&"):
                    words.append(word)
                    continue
                if words:
                    yield words[: words.index(">") if ">" in words else len(words)]
                words = []


def blocks(language: str = "") -> list[Block]:
    """Return the blocks of one language, or all of them, in the order of the pages."""
    return [block for page in PAGES for block in _of_page(page) if language in ("", block.language)]


def _of_page(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        indent = found["indent"]
        lines = [line.removeprefix(indent) for line in found["text"].splitlines()]
        number = text[: found.start("text")].count("\n") + 1
        name = str(page.relative_to(ROOT))
        yield Block(
            name, number, found["language"], "\n".join(lines) + "\n", found["not"] or "", found["why"] or ""
        )
