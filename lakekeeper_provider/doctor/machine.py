"""The checks of the machine that starts spark-submit: its configuration file, the program, and the ticket."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from lakekeeper_provider.doctor import core_site, process
from lakekeeper_provider.doctor.checks import Check, Desk
from lakekeeper_provider.exceptions import UsageError, said
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config

#: A cache of tickets may be on a server that does not answer.
_SECONDS = 30
_GET_TICKET = (
    "Run kinit, or set keytab and principal in spark_submit; in Airflow, `airflow kerberos` renews a ticket"
)

#: How files of keytabs begin (MIT Kerberos, "The keytab file format").
_KEYTAB = b"\x05"
_NO_CACHE = re.compile(r"no credentials? cache|not found|no such file|no ticket file", re.IGNORECASE)


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
    if there := _unusable(program, path):
        return desk.bad(
            "spark-submit", tried, there, "Correct it, or put another Spark client on the PATH before it"
        )
    return desk.bad(
        "spark-submit",
        tried,
        "it is not there",
        "Install a Spark client, and put it on the PATH; on CDP set spark_submit.submit_command (in Airflow"
        " spark_binary) to spark3-submit",
    )


def _unusable(program: str, path: str | None) -> str | None:
    """Return what is on the PATH under this name, although it cannot be started."""
    searched = os.environ.get("PATH", os.defpath) if path is None else path
    for each in (Path(folder, program) for folder in searched.split(os.pathsep)):
        with contextlib.suppress(OSError, ValueError):  # in a directory that this account may not enter
            if each.is_dir():
                return f"{each} is a directory"
            if each.exists():
                return f"{each} is not executable"
            if each.is_symlink():
                return f"{each} is a link to nothing"
    return None


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
    except (OSError, ValueError) as error:
        return desk.not_asked("ticket", tried, f"{error}; the driver says whether it has a ticket")
    if held:
        return desk.good("ticket", tried, _life(listed))
    found = _why_none(listed)
    try:
        if core_site.asks_for_kerberos(environ):
            return desk.bad(
                "ticket", tried, f"{found}, and {core_site.CORE_SITE} asks for Kerberos", _GET_TICKET
            )
    except core_site.Unknown as unknown:
        return desk.not_asked("ticket", tried, f"{found}, and {unknown}")
    return desk.good("ticket", tried, f"{found}, and {core_site.CORE_SITE} does not ask for Kerberos")


def _why_none(listed: Sequence[str]) -> str:
    if any("krbtgt/" in line for line in listed):
        return "the ticket has expired"
    said = next((line.strip() for line in listed if line.strip()), "")
    return f"there is no ticket ({said})" if said and not _NO_CACHE.search(said) else "there is no ticket"


def _keytab(desk: Desk, keytab: str) -> Check:
    tried, why = "read the keytab", _not_readable(keytab)
    if why is None:
        return desk.good("ticket", tried, "it can be read; the driver says whether a login with it works")
    return desk.bad(
        "ticket",
        tried,
        why,
        "Correct keytab (of the operator, or of spark_submit), or the rights of the file",
    )


def _not_readable(keytab: str) -> str | None:
    try:
        path = Path(keytab)
        if path.exists() and not path.is_file():
            return "it is no file"
        with path.open("rb") as file:
            return None if file.read(1) == _KEYTAB else "the file is no keytab"
    except FileNotFoundError:
        return "there is no such file"
    except (OSError, ValueError) as error:
        return f"it cannot be read by this account: {said(error)}"


def _klist(environ: Mapping[str, str]) -> tuple[Sequence[str], bool]:
    """Return what klist says, and whether there is a ticket that counts. Raise OSError if it does not answer."""
    _, listed = _run(environ, "klist")
    code, silent = _run(environ, "klist", "-s")
    if code not in (0, 1):  # 1: no ticket, or one that has expired (klist(1))
        said = "; ".join(line.strip() for line in silent if line.strip())
        raise OSError(f"klist -s ended with exit code {code}{said and f': {said}'}")
    return listed, code == 0


def _run(environ: Mapping[str, str], *command: str) -> tuple[int, Sequence[str]]:
    """Run a program of the machine, as its PATH has it."""
    code, lines = process.run(command, _SECONDS, {**environ, "LC_ALL": "C"})
    if code is None:
        raise TimeoutError(f"klist does not answer within {_SECONDS} s")
    return code, lines


def _life(listed: Sequence[str]) -> str:
    """Return whose ticket it is and when it ends, as klist has them."""
    lines = [line.strip() for line in listed]
    whose = next(
        (line for line in lines if re.match(r"(default )?principal:", line, re.IGNORECASE)), "a ticket"
    )
    realm = whose.rpartition("@")[2]
    granting = [line for line in lines if "krbtgt/" in line]
    own = [line for line in granting if line.endswith(f"krbtgt/{realm}@{realm}")] or granting
    ends = " ".join(own[0].split("  ")[1:2]).strip() if own else ""
    return f"{whose}, until {ends}" if ends else whose
