"""For how long is a live directory not there? Looks at all units about every half millisecond.

python -m tests.soak.gaps FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

INTERVAL = 0.0005


def main(folder: Path) -> None:
    places = json.loads((folder / "units.json").read_text())
    since: dict[str, float] = {}
    with (folder / "gaps").open("a", buffering=1) as log:
        while True:
            for unit, place in places.items():
                now = time.monotonic()
                if not os.path.exists(place):  # noqa: PTH110 (no object for each look)
                    since.setdefault(unit, now)
                elif unit in since:
                    log.write(f"{unit} {since.pop(unit)} {now}\n")
            time.sleep(INTERVAL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
