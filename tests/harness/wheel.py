"""Build the wheel into dist/."""

from __future__ import annotations

import sys

from tests.harness import envs, machine, paths


def main() -> int:
    try:
        machine.require_python()
        envs.ensure_uv()
        envs.uv("build", "--wheel", "--out-dir", paths.ROOT / "dist", paths.ROOT)
    except (envs.EnvError, machine.MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for wheel in sorted((paths.ROOT / "dist").glob("*.whl")):
        print(wheel.relative_to(paths.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
