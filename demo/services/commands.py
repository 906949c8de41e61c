"""What somebody types on this machine, with `make` or without it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_MODULES = {"demo": "demo.run", "up": "demo.ui up", "down": "demo.ui down"}


def command(target: str) -> str:
    """Return the command of a make target, such as `make up`; where there is no make, the one behind it."""
    return f"make {target}" if shutil.which("make") else f"{Path(sys.executable).name} -m {_MODULES[target]}"
