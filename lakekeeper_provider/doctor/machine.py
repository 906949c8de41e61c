"""The checks of the machine that starts spark-submit: its configuration file, the program, and the ticket."""

from __future__ import annotations

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from lakekeeper_provider.doctor.checks import Check, Desk
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config

_CORE_SITE, _AUTHENTICATION = "core-site.xml", "hadoop.security.authentication"
#: A cache of tickets may be on a server that does not answer.
_SECONDS = 30
_GET_TICKET = (
    "Run kinit, or set keytab and principal in spark_submit; in Airflow, `airflow kerberos` renews a ticket"
)


def configuration(desk: Desk, path: str | None) -> tuple[Config, Check]:
    """Read the configuration file; return the defaults where it cannot be read."""
    tried = "read the configuration file"
    if path is None:
        return Config(), desk.not_asked("configuration", tried, "none is named")
    try:
        return config.load(path), desk.good("configuration", tried, f"{path} is valid")
    except UsageError as error:
        return Config(), desk.bad("configuration", tried, str(error), "Correct it: docs/configuration.md")


def spark_submit(desk: Desk, program: str, path: str | None = None) -> Check:
    """Look for spark-submit.

    Args:
        path: the PATH to look in; None for this process's own
    """
    tried, found = f"look for {program} on the PATH", shutil.which(program, path=path)
    if found:
        return desk.good("spark-submit", tried, str(Path(found).resolve()))
    return desk.bad(
        "spark-submit",
        tried,
        "it is not there",
        "Install a Spark client, and put it on the PATH; on CDP set spark_submit.submit_command (in Airflow"
        " spark_binary) to spark3-submit",
    )


def ticket(desk: Desk, keytab: str | None, environ: Mapping[str, str]) -> Check:
    """Look for a ticket, or for the keytab that is used instead.

    Args:
        environ: the environment of spark-submit
    """
    if keytab:
        return _keytab(desk, keytab)
    tried = "look for a Kerberos ticket (klist)"
    if not shutil.which("klist"):
        return desk.not_asked(
            "ticket", tried, "klist is not installed; the driver says whether it has a ticket"
        )
    try:
        listed, held = _klist(environ)
    except OSError as error:
        return desk.not_asked("ticket", tried, str(error))
    if held:
        return desk.good("ticket", tried, _life(listed))
    found = "the ticket has expired" if "krbtgt/" in listed else "there is no ticket"
    asked = _asks_for_kerberos(environ)
    if asked is None:
        return desk.not_asked(
            "ticket", tried, f"{found}, and no core-site.xml says whether the cluster asks for one"
        )
    if asked:
        return desk.bad("ticket", tried, f"{found}, and {_CORE_SITE} asks for Kerberos", _GET_TICKET)
    return desk.good("ticket", tried, f"{found}, and {_CORE_SITE} does not ask for Kerberos")


def _keytab(desk: Desk, keytab: str) -> Check:
    tried = "read the keytab"
    if os.access(keytab, os.R_OK):
        return desk.good("ticket", tried, "it can be read; the driver says whether a login with it works")
    why = "it cannot be read by this account" if Path(keytab).exists() else "there is no such file"
    return desk.bad(
        "ticket",
        tried,
        why,
        "Correct keytab (of the operator, or of spark_submit), or the rights of the file",
    )


def _klist(environ: Mapping[str, str]) -> tuple[str, bool]:
    """Return what klist says, and whether there is a ticket that counts. Raise OSError if it does not answer."""
    return _run(environ, "klist").stdout, _run(environ, "klist", "-s").returncode == 0


def _run(environ: Mapping[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    try:
        # The program is that of the machine, as its PATH has it.
        return subprocess.run(  # noqa: S603
            command,
            env={**environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"klist does not answer within {_SECONDS} s") from None


def _life(listed: str) -> str:
    """Return whose ticket it is and when it ends, as klist has them."""
    lines = [line.strip() for line in listed.splitlines()]
    whose = next((line for line in lines if "rincipal" in line), "a ticket")
    granting = next((line for line in lines if "krbtgt/" in line), "")
    ends = " ".join(granting.split("  ")[1:2]).strip()
    return f"{whose}, until {ends}" if ends else whose


def _asks_for_kerberos(environ: Mapping[str, str]) -> bool | None:
    """Tell whether Hadoop's configuration asks for Kerberos; None if there is none."""
    for variable in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        path = Path(environ.get(variable) or os.devnull, _CORE_SITE)
        if path.is_file():
            return _setting(path) == "kerberos"
    return None


def _setting(path: Path) -> str | None:
    try:
        # The file is the cluster's own configuration.
        properties = ElementTree.parse(path).getroot()  # noqa: S314
    except (OSError, ElementTree.ParseError):
        return None
    named = (each for each in properties.iter("property") if each.findtext("name") == _AUTHENTICATION)
    return next((str(each.findtext("value")).strip() for each in named), None)
