"""The libraries of other writers, by Maven: fetched once, and anew whenever the pom changes."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from demo.services import paths

POM = Path(__file__).with_name("maven") / "pom.xml"
HOME = paths.env_dir("writers")


class NoLibraries(Exception):
    """The libraries cannot be had; the message says what to do."""


def folder(library: str) -> Path:
    """The directory with the jars of a library, such as `orc-1.5`. Raises NoLibraries."""
    HOME.parent.mkdir(exist_ok=True)
    with HOME.with_name("writers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _ensure()
    return HOME / library


def _ensure() -> None:
    stamp, wanted = HOME / "stamp", hashlib.sha256(POM.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not shutil.which("mvn"):
        raise NoLibraries("Maven is needed, and there is no mvn on PATH; on Debian: apt-get install maven")
    shutil.rmtree(HOME, ignore_errors=True)
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(POM), "package", f"-Dwriters.jars={HOME}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NoLibraries(f"Maven could not fetch the libraries:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    stamp.write_text(wanted)
