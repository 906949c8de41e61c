"""What the figures depend on: the machine, and the versions of what runs."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from benchmarks.results import commit, now
from benchmarks.workspace import LAKEKEEPER, SPARK
from demo.services import locks
from demo.services.java import java_command


def context() -> dict[str, str]:
    """Return machine and versions, each as a text for the page."""
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": _processor(),
        "memory": f"{_memory_gb():.0f} GB",
        "kernel": f"{platform.system()} {platform.release()}",
        "java": _java(),
        "python": platform.python_version(),
        "spark": _locked(SPARK, "pyspark"),
        "lakekeeper": _locked(LAKEKEEPER, "lakekeeper"),
        "commit": commit(),
        "date": now()[:10],
    }


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _java() -> str:
    shown = subprocess.run([java_command() or "java", "-version"], capture_output=True, text=True).stderr
    return shown.splitlines()[0].replace('"', "")


def _locked(environment: str, package: str) -> str:
    """Return the version of a package in a lock file."""
    lines = locks.lock_file(environment).read_text().splitlines()
    return next(line.split("==")[1].split()[0] for line in lines if line.startswith(f"{package}=="))
