"""What some suites need of a machine besides Python and Java, and how to get it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from tests.cluster import jars, kerberos


def lack(needs: Sequence[str]) -> str | None:
    """Why a suite with these needs cannot run here; None if it can."""
    try:
        for need in needs:
            _ENSURE[need]()
    except (jars.NoJars, kerberos.NoKerberos) as error:
        return str(error)
    return None


def _kerberos() -> None:
    """Its servers, and what Python's client for it is built with."""
    kerberos.require()
    for program, package in (("krb5-config", "libkrb5-dev"), ("cc", "gcc")):
        if shutil.which(program) is None:
            raise kerberos.NoKerberos(
                f"Python's Kerberos client is built here, and there is no {program}; on Debian and Ubuntu:"
                f" apt-get install {package}"
            )


_ENSURE = {"jars": jars.ensure, "kerberos": _kerberos}
