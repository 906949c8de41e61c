"""Check what must be installed: Python 3.11 and Java 17; read the package index from pip's settings."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from demo.services import paths

PYTHON = (3, 11)
JAVA = 17

VENV_HINT = "Python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3.11-venv"
NETWORK_HINT = (
    "Is there a network? A package index other than PyPI is taken from pip's own settings"
    " (pip config set global.index-url ...) or from UV_DEFAULT_INDEX."
)

# pip's settings of the index, each with the environment variable of uv.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}


_COMPILERS = {"krb5-config": "libkrb5-dev", "cc": "gcc libc6-dev"}
_BROWSER = {"chromium": "chromium", "chromedriver": "chromium-driver"}
_PYTHON_HEADERS = f"python{'.'.join(map(str, PYTHON))}-dev"
#: The Debian packages that are needed to compile a Python package for Kerberos.
TO_COMPILE = " ".join([*_COMPILERS.values(), _PYTHON_HEADERS])


class MachineError(Exception):
    """Something is not installed; the message says how to install it."""


def require_python() -> None:
    """Raise MachineError unless this is Python 3.11."""
    if sys.version_info[:2] != PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        raise MachineError(
            f"Python 3.11 is needed, and {sys.executable} is {found}.\n"
            "Point at another one: make PYTHON=/path/to/python3.11"
        )


def require_java() -> None:
    """Raise MachineError unless there is Java 17: Spark 4 needs at least that, Spark 3.3 supports no newer one."""
    java = java_command()
    if java is None:
        raise MachineError(f"Java 17 is needed, and there is none on PATH. {_java_hint()}")
    found = java_version(java)
    if found != JAVA:
        raise MachineError(f"Java 17 is needed, and {java} is {found or 'not working'}. {_java_hint()}")


def java_command() -> str | None:
    """Return the Java that Spark uses: that of JAVA_HOME, else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else shutil.which("java")


def java_version(java: str) -> int | None:
    """Return the major version; None where the command does not work."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    except OSError:
        return None
    found = re.search(r'version "(\d+)', shown)
    return int(found[1]) if found else None


def _java_hint() -> str:
    installed = ", ".join(str(path) for path in sorted(Path("/usr/lib/jvm").glob("java-17-*")))
    if installed:
        return f"Point JAVA_HOME at one of: {installed}"
    return (
        "Install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless), or point JAVA_HOME at it:"
        " make JAVA_HOME=/path/to/java-17"
    )


def missing_to_compile() -> list[tuple[str, str]]:
    """Return what is missing to compile a Python package for Kerberos, each with its Debian package."""
    missing = [(name, package) for name, package in _COMPILERS.items() if shutil.which(name) is None]
    if shutil.which("cc") and not _compiles("#include <stdlib.h>"):
        missing.append(("stdlib.h", "libc6-dev"))
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        missing.append((str(header), _PYTHON_HEADERS))
    return missing


def missing_browser() -> list[tuple[str, str]]:
    """Return what is missing to look at pages, each with its Debian package."""
    return [(name, package) for name, package in _BROWSER.items() if shutil.which(name) is None]


def _compiles(source: str) -> bool:
    """Return whether the preprocessor finds the headers."""
    done = subprocess.run(["cc", "-E", "-xc", "-"], input=source, capture_output=True, text=True)
    return done.returncode == 0


def uv_settings() -> dict[str, str]:
    """Return pip's index settings as variables for uv, except those that the user has set for uv already."""
    settings = {UV_NAMES[key]: value for key, value in pip_settings().items() if key in UV_NAMES}
    return {name: value for name, value in settings.items() if name not in os.environ}


def pip_settings() -> dict[str, str]:
    """Return pip's options; as in pip, the environment wins over [install], and that over [global]."""
    found = re.findall(r"^(global|install|:env:)\.([a-z-]+)='(.*)'$", _pip_config(), re.MULTILINE)
    ranked = sorted(found, key=lambda row: ("global", "install", ":env:").index(row[0]))
    return {key: value.replace("\\n", " ").strip() for _, key, value in ranked}


def _pip_config() -> str:
    """Return the output of `pip config list`; this Python may have no pip, but the environment `tools` has."""
    for python in (sys.executable, str(paths.env_python("tools"))):
        with contextlib.suppress(OSError):
            done = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout
    return ""


if __name__ == "__main__":
    try:
        require_python()
    except MachineError as error:
        sys.exit(f"error: {error}")
