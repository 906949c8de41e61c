"""What was committed: a line for each file, written once it is in its place. The truth that readers are held to."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from pathlib import Path


class Ledger:
    """One file that several processes append to; reading goes on where it last stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._ids: dict[str, set[int]] = defaultdict(set)

    def add(self, unit: str, ids: range) -> None:
        """One write of one short line: the kernel keeps those of several processes apart."""
        line = f"{unit} {ids.start} {ids.stop} {time.monotonic()}\n".encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def ids(self) -> dict[str, set[int]]:
        """All ids by unit, as committed until now. The sets are the ledger's own."""
        if self.path.exists():
            with self.path.open() as file:
                file.seek(self._offset)
                text = file.read()
            whole = text[: text.rfind("\n") + 1]
            self._offset += len(whole.encode())
            for line in whole.splitlines():
                unit, start, stop, _ = line.split()
                self._ids[unit].update(range(int(start), int(stop)))
        return self._ids
