"""Find the Java that Spark, the metastore and the cluster run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from demo.services.machine import MachineError

#: Spark 4 needs at least 17; Hadoop's libraries end with an exception on 24 and newer.
VERSIONS = (17, 21)
#: Where Debian, Ubuntu, Fedora and RHEL install them.
INSTALLED = Path("/usr/lib/jvm")

#: A driver that lives for minutes gains nothing from the optimizing compiler, nor from parallel garbage collection.
#: Without that compiler Java reserves only 48 MB for code, which the queries of a long suite fill.
DRIVER_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
if sys.platform.startswith("linux"):
    # Without its native library, Hadoop starts a `chmod` for each file and folder on a local disk. VFORK saves the
    # helper process that Java would start before each of them.
    DRIVER_OPTIONS += " -Djdk.lang.Process.launchMechanism=VFORK"


def java_command() -> str | None:
    """Return the Java that Spark uses: that of JAVA_HOME, else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else shutil.which("java")


def current() -> int | None:
    """Return the major version of that Java; None if there is none that works."""
    command = java_command()
    return java_version(command) if command else None


def modules() -> set[str]:
    """Return the modules of that Java. The runtime from the package index has not all of them."""
    return _modules_of(java_command() or "java")


@cache
def _modules_of(command: str) -> set[str]:
    try:
        shown = subprocess.run([command, "--list-modules"], capture_output=True, text=True).stdout
    except OSError:
        return set()
    return {line.partition("@")[0] for line in shown.splitlines()}


def installed() -> bool:
    """Return whether this machine has a Java that fits. If it is not on the PATH, JAVA_HOME names it from now on.

    Raises:
        MachineError: JAVA_HOME is set, and names another one.
    """
    found = current()
    if found in VERSIONS:
        return True
    if home := os.environ.get("JAVA_HOME"):
        raise MachineError(
            f"Java 17 or 21 is needed, and JAVA_HOME={home} is {found or 'not working'}."
            " Point it at another one, or unset it: make JAVA_HOME= ..."
        )
    for place in sorted(INSTALLED.glob("*/bin/java")):
        if java_version(str(place)) in VERSIONS:
            use(place.parents[1])
            return True
    return False


def use(home: Path) -> None:
    """Let this program, and all that it starts, run on this Java."""
    os.environ["JAVA_HOME"] = str(home)


def java_version(java: str) -> int | None:
    """Return the major version; None where the command does not work."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    except OSError:
        return None
    found = re.search(r'version "(\d+)', shown)
    return int(found[1]) if found else None
