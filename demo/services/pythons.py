"""Find the Python for each environment: those of 3.10 to 3.13 that this machine has."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator

from demo.services.machine import MachineError

VENV_HINT = "Python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"

#: A minor version of Python, such as (3, 12).
Version = tuple[int, int]

#: Those that run the demo and the tests, the first choice first.
VERSIONS: tuple[Version, ...] = ((3, 13), (3, 12), (3, 11), (3, 10))


def dotted(version: Version) -> str:
    """Return a version as it is written, such as 3.12."""
    return ".".join(map(str, version))


def named(version: Version) -> str:
    """Return the name of its command, such as python3.12."""
    return f"python{dotted(version)}"


def require_python() -> None:
    """Raise MachineError unless this is one of the supported versions."""
    if sys.version_info[:2] in VERSIONS:
        return
    found = ".".join(map(str, sys.version_info[:3]))
    others = [name for version in VERSIONS for name in [named(version)] if shutil.which(name)]
    raise MachineError(
        f"Python 3.10 to 3.13 is needed, and {sys.executable} is {found}.\n"
        f"Point at another one: make PYTHON={others[0] if others else '/path/to/python3.12'}"
    )


def choice(oldest: Version, newest: Version) -> tuple[Version, str] | None:
    """Return the Python for an environment that supports these versions; None if there is none here.

    It is the one that runs this program if that is among them, so that most environments have the same one.
    """
    this = (sys.version_info[0], sys.version_info[1])
    return (this, sys.executable) if oldest <= this <= newest else next(_working(oldest, newest), None)


def _working(oldest: Version, newest: Version) -> Iterator[tuple[Version, str]]:
    """Yield what works. A version manager leaves commands on the PATH that only say that they are missing."""
    for version in VERSIONS:
        command = shutil.which(named(version)) if oldest <= version <= newest else None
        if command and _version(command) == version:
            yield version, command


def _version(command: str) -> Version | None:
    asked = [command, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        major, minor = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return int(major), int(minor)


if __name__ == "__main__":
    try:
        require_python()
    except MachineError as error:
        sys.exit(f"error: {error}")
