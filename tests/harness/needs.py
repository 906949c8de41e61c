"""What some suites need of a machine besides Python and Java, and how to get it.

Nothing is fetched or compiled here: `tests.cluster.jars` and `envs.py airflow-3.3-kerberos` do that.
"""

from __future__ import annotations

from collections.abc import Sequence

from demo.services import machine
from tests.cluster import jars, kerberos


def lack(needs: Sequence[str]) -> str | None:
    """Why a suite with these needs cannot run here; None if it can."""
    return "; ".join(filter(None, (_LACK[need]() for need in needs))) or None


def _kerberos() -> str:
    """Its servers, and what Python's client for it is compiled with."""
    missing = [*kerberos.missing(), *machine.missing_to_compile()]
    if not missing:
        return ""
    found = ", ".join(thing for thing, _ in missing)
    packages = " ".join(dict.fromkeys(package for _, package in missing))
    return (
        "MIT Kerberos is needed, and what Python's client for it is compiled with; this machine lacks"
        f" {found}; on Debian and Ubuntu: apt-get install {packages}"
    )


_LACK = {"jars": jars.lack, "kerberos": _kerberos}
