"""The report among the lines that spark-submit prints, and these lines as a log may show them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lakekeeper_provider.printable import one_line

SENTINEL = "LAKEKEEPER_REPORT"
NONCE_FLAG = "--report-nonce"
MASK = "******"


@dataclass
class ReportLine:
    """The line of one submission's report.

    A text of a table may stand in the log at the beginning of a line. It cannot be taken for the report: the report
    begins with a word that is chosen anew for each submission, and that no line before it shows.

    Args:
        nonce: that word; the job gets it by ``flags``
        content: the report, once its line has come
    """

    nonce: str = field(default_factory=lambda: secrets.token_hex(16))  # guard: word_is_random
    content: str | None = None

    @property
    def flags(self) -> list[str]:
        """Return the flags that tell the job the word."""
        return [NONCE_FLAG, self.nonce]

    def without(self, lines: Iterable[str]) -> Iterator[str]:
        """Keep the report, and return the other lines as a log may show them: without the word."""
        start = f"{SENTINEL} {self.nonce} "  # guard: word_begins_the_report
        for line in lines:
            if line.startswith(start):
                self.content = line[len(start) :]
            else:
                yield (
                    one_line(line.rstrip("\r\n").replace(self.nonce, MASK)) + "\n"
                )  # guard: lines_shown_safely
