"""A writer beside the jobs: adds a file to some unit every moment, unless it is told to pause.

python -m tests.soak.appender FOLDER SEED
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from tests.soak.ledger import Ledger
from tests.soak.tables import Writer

FIRST_ID = 10**9
PAUSE = "appender-pauses"

#: A directory that was made anew between two renames is settled once it is quiet for five seconds: a writer that adds
#: to each of them more often than that is at work all the time, and would be waited for in vain.
FILES_PER_SECOND = 1.0


def main(folder: Path, seed: str) -> None:
    units = {unit: Path(path) for unit, path in json.loads((folder / "units.json").read_text()).items()}
    writer = Writer(units, folder / "staging-appender", Ledger(folder / "ledger"), FIRST_ID)
    choice = random.Random(f"{seed}/appender")
    while True:
        time.sleep(choice.expovariate(FILES_PER_SECOND))
        if not (folder / PAUSE).exists():
            writer.add(choice.choice(list(units)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
