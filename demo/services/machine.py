"""What must be installed: compilers for Kerberos, and a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

#: Debian's package of headers for this Python.
_PYTHON_HEADERS = f"python{sys.version_info[0]}.{sys.version_info[1]}-dev"
_COMPILERS = {"krb5-config": "libkrb5-dev", "cc": "gcc libc6-dev"}
_BROWSER = {"chromium": "chromium", "chromedriver": "chromium-driver"}
#: The Debian packages that are needed to compile a Python package for Kerberos.
TO_COMPILE = " ".join([*_COMPILERS.values(), _PYTHON_HEADERS])


class MachineError(Exception):
    """Something is missing that the demo or the tests need; the message says how to get it."""


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
