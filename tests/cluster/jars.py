"""The servers' libraries, by Maven: fetched once, and anew whenever a pom changes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from demo.services import paths

POMS = Path(__file__).with_name("maven")
HOME = paths.env_dir("cluster")
HADOOP, HIVE = HOME / "hadoop", HOME / "hive"


class NoJars(Exception):
    """The libraries cannot be had; the message says what to do."""


def ensure() -> None:
    """Raises NoJars without Maven, or where it finds no way to them."""
    if is_current():
        return
    if reason := lack():
        raise NoJars(reason)
    print("cluster: fetching the libraries of Hadoop and Hive (200 MB)", flush=True)
    shutil.rmtree(HOME, ignore_errors=True)
    _maven()
    (HOME / "stamp").write_text(fingerprint())


def is_current() -> bool:
    stamp = HOME / "stamp"
    return stamp.exists() and stamp.read_text() == fingerprint()


def lack() -> str:
    """Why they cannot be had here; an empty text where they are there, or may be fetched."""
    if is_current() or shutil.which("mvn"):
        return ""
    return "Maven is needed, and there is no mvn on PATH; Debian and Ubuntu: apt-get install maven"


def compiler() -> list[str]:
    """A compiler of Java sources, for a Java runtime has none; it is among Hive's libraries."""
    return [str(jar) for name in ("janino", "commons-compiler") for jar in sorted(HIVE.glob(f"{name}-*.jar"))]


def fingerprint() -> str:
    return hashlib.sha256(b"\0".join(pom.read_bytes() for pom in sorted(POMS.rglob("pom.xml")))).hexdigest()


def _maven() -> None:
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(POMS), "package", f"-Dcluster.jars={HOME}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NoJars(f"Maven could not fetch the libraries:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    try:
        ensure()
    except NoJars as error:
        sys.exit(f"error: {error}")
