"""Build the wheels of both distributions into dist/."""

from __future__ import annotations

import sys

from demo.services import paths, pythons, uv
from demo.services.machine import MachineError


def main() -> int:
    try:
        pythons.require_python()
        uv.ensure()
        for folder in (paths.JOBS_PACKAGE, paths.ROOT):
            uv.run("build", "--wheel", "--out-dir", paths.ROOT / "dist", folder)
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for wheel in sorted((paths.ROOT / "dist").glob("*.whl")):
        print(wheel.relative_to(paths.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
