"""A reader beside the jobs: lists the units' directories, reads all ids, and counts what is missing or double.

    python -m tests.soak.reader FOLDER

A read is one listing of one unit. It is short where a row is missing that was committed before it began, or where a
file was gone by the time that it was opened.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.soak.ledger import Ledger
from tests.soak.tables import read

PAUSE = 0.02


def main(folder: Path) -> None:
    units = {unit: Path(path) for unit, path in json.loads((folder / "units.json").read_text()).items()}
    ledger = Ledger(folder / "ledger")
    with (folder / "reads").open("a", buffering=1) as log:
        while True:
            for unit, place in units.items():
                log.write(f"{time.monotonic()} {unit} {look(unit, place, ledger)}\n")
                time.sleep(PAUSE)


def look(unit: str, place: Path, ledger: Ledger) -> str:
    committed = frozenset(ledger.ids()[unit])
    try:
        found = read(place)
    except FileNotFoundError as error:
        return "short: no directory" if str(error.filename) == str(place) else "short: a file was gone"
    except OSError as error:
        return f"broken: {type(error).__name__}"
    if committed - found.keys():
        return "short: rows are missing"
    return "double" if any(times > 1 for times in found.values()) else "good"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
