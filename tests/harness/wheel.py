"""Build the wheels of both distributions into dist/, and check their descriptions.

python3 -m tests.harness.wheel          the wheels
python3 -m tests.harness.wheel --sbom   also what each of them depends on, as a CycloneDX file beside it
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from demo.services import environments, paths, pythons, uv
from demo.services.machine import MachineError

DIST = paths.ROOT / "dist"
#: The folders of both distributions, by their names.
SOURCES = {"lakekeeper-hive-jobs": paths.JOBS_PACKAGE, "airflow-provider-lakekeeper": paths.ROOT}


def build() -> list[Path]:
    """Build and check the wheels, and return them."""
    for folder in SOURCES.values():
        uv.run("build", "--wheel", "--out-dir", DIST, folder)
    wheels = sorted(DIST.glob("*.whl"))
    _run("twine", "check", "--strict", *wheels)
    return wheels


def write_sbom() -> list[Path]:
    """Write what each distribution depends on, resolved for this Python, and return the files."""
    return [_sbom(name, folder) for name, folder in SOURCES.items()]


def _sbom(name: str, folder: Path) -> Path:
    resolved, file = paths.SCRATCH / f"{name}.txt", DIST / f"{name}.cdx.json"
    # The other distribution is on no package index.
    own = [f"--no-emit-package={other}" for other in SOURCES]
    found = [f"--find-links={DIST}"]
    uv.run("pip", "compile", *found, *own, folder / "pyproject.toml", "--output-file", resolved)
    _run("cyclonedx-py", "requirements", resolved, "--output-file", file, "--output-reproducible")
    return file


def _run(program: str, *arguments: str | Path) -> None:
    command = [str(paths.env_dir("packaging") / "bin" / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise MachineError(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the wheels into dist/.")
    parser.add_argument("--sbom", action="store_true", help="also what they depend on")
    options = parser.parse_args()
    try:
        pythons.require_python()
        environments.ensure(["packaging"])
        uv.ensure()
        made = build() + (write_sbom() if options.sbom else [])
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for file in made:
        print(file.relative_to(paths.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
