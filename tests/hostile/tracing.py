"""Which sites of the code were reached, and whether a text of the corpus was among what they were given."""

from __future__ import annotations

import gzip
import sys
import threading
from collections import defaultdict
from types import CodeType, FrameType
from typing import Any

from tests.hostile.corpus import HADOOP_PROPERTY, NAME, PROPERTY
from tests.hostile.sites import PRODUCT, Site, sites

#: A text of the corpus has one of these.
_KNOWN_BY = (NAME, PROPERTY, HADOOP_PROPERTY)


class Tracing:
    """Follows the jobs' code in all threads that begin later, and in this one."""

    def __init__(self) -> None:
        self.reached: dict[str, bool] = {}
        self._of_file: dict[str, list[Site]] = defaultdict(list)
        for site in sites():
            self._of_file[str(PRODUCT / site.path)].append(site)
        self._of_code: dict[CodeType, dict[int, list[Site]]] = {}

    def start(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._at_line if self._lines(frame.f_code) else None

    def _lines(self, code: CodeType) -> dict[int, list[Site]]:
        """Return the sites of a function by line. Only these functions are followed line by line, which is slow."""
        if code not in self._of_code:
            in_file = self._of_file.get(code.co_filename, ())
            own = {line for _, _, line in code.co_lines()} if in_file else set()
            found = {line: [site for site in in_file if line in site.lines] for line in own}
            self._of_code[code] = {line: each for line, each in found.items() if each}
        return self._of_code[code]

    def _at_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        found = self._lines(frame.f_code).get(frame.f_lineno) if event == "line" else None
        for site in found or ():
            if not self.reached.get(site.name):
                self.reached[site.name] = any(map(_has_text, frame.f_locals.values()))
        return self._at_line


def _has_text(value: Any) -> bool:
    packed = isinstance(value, bytes) and value.startswith(b"\x1f\x8b")
    shown = repr(gzip.decompress(value) if packed else value)
    return any(word in shown for word in _KNOWN_BY)
