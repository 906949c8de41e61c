"""The lock files of the environments: each package with its version, and the hashes of its files."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from demo.services import paths, pythons, uv

#: Set to `no` for a package index that builds its own files, whose hashes are others than those in the lock files.
HASHES = "LAKEKEEPER_HASHES"
FOLDER = Path(__file__).resolve().parent / "lock_files"
#: The provider depends on the other distribution of this tree, which no index has; it is a source of its own instead.
_WITHOUT_JOBS = "lakekeeper-hive-jobs; python_version < '3'\n"
_OPTIONS = ("--universal", "--generate-hashes", "--no-annotate", "--no-header")


def lock_file(name: str) -> Path:
    """Return the lock file of an environment."""
    return FOLDER / f"{name}.txt"


def packages(name: str) -> list[str]:
    """Return the packages of an environment, each with its lines of hashes."""
    return re.findall(r"^\S.*\n(?:[ ].*\n)*", lock_file(name).read_text(), re.MULTILINE)


def hashes() -> str:
    """Return uv's option for the hashes in the lock files."""
    return "--no-verify-hashes" if os.environ.get(HASHES) == "no" else "--require-hashes"


def resolve(name: str, oldest: pythons.Version, *, project: bool, base: str, upgrade: bool) -> None:
    """Resolve a lock file from the group of its name in pyproject.toml, for all Pythons from the oldest one on.

    Args:
        project: what the project depends on belongs to it.
        base: the environment into which the packages are installed; what that has already is left out.
        upgrade: to the newest versions; else a version that still fits stays.
    """
    options = [*_OPTIONS, "--python-version", pythons.dotted(oldest)]
    options += ["--upgrade"] if upgrade else []
    options += ["--constraint", str(lock_file(base))] if base else []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
        overrides.write(_WITHOUT_JOBS)
        overrides.flush()
        if project:
            jobs = str(paths.JOBS_PACKAGE / "pyproject.toml")
            options += ["pyproject.toml", jobs, "--overrides", overrides.name]
        uv.run("pip", "compile", *options, "--group", name, "--output-file", lock_file(name))
    if base:
        known = {_pin(package) for package in packages(base)}
        kept = [package for package in packages(name) if _pin(package) not in known]
        lock_file(name).write_text("".join(kept))
    uv.print_progress(f"{name}: locked")


def _pin(package: str) -> str:
    """Return name and version, without the Pythons that need it and the hashes."""
    return package.split()[0]
