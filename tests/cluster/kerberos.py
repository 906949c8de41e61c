"""A Kerberos realm of its own: MIT's key distribution centre, its principals and their keytabs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from demo.services.ports import HOST, free_port
from tests.cluster.server import NotStarted, Server, listens

REALM = "LAKEKEEPER.TEST"
#: Seconds after which a program hangs.
LIMIT = 60
#: Each with the Debian package that has it.
PROGRAMS = {
    "krb5kdc": "krb5-kdc",
    "kdb5_util": "krb5-kdc",
    "kadmin.local": "krb5-admin-server",
    "kinit": "krb5-user",
    "klist": "krb5-user",
}
#: Where Debian keeps what only administrators call.
_PATH = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin{os.pathsep}/sbin"

_CLIENT = """\
[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 1h
  renew_lifetime = 1d
  forwardable = true

[realms]
  {realm} = {{
    kdc = {host}:{port}
  }}

[domain_realm]
  localhost = {realm}
"""

_SERVER = """\
[kdcdefaults]
  kdc_listen = {host}:{port}
  kdc_tcp_listen = {host}:{port}

[realms]
  {realm} = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    max_life = 1h
    max_renewable_life = 1d
  }}
"""


class NoKerberos(Exception):
    """MIT Kerberos is not installed; the message says what to do."""


def missing() -> list[tuple[str, str]]:
    """The programs that are not installed, each with the Debian package that has it."""
    return [(name, package) for name, package in PROGRAMS.items() if shutil.which(name, path=_PATH) is None]


def require() -> None:
    if found := missing():
        names = ", ".join(name for name, _ in found)
        packages = " ".join(dict.fromkeys(package for _, package in found))
        raise NoKerberos(
            f"MIT Kerberos is needed, and this machine lacks {names};"
            f" on Debian and Ubuntu: apt-get install {packages}"
        )


class Kdc:
    """Of one folder. `conf` is what clients read, Java's included."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.conf = folder / "krb5.conf"
        self.port = free_port()
        self.environ = {"KRB5_CONFIG": str(self.conf), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
        self._server = Server(
            "kdc", ["krb5kdc", "-n"], folder, partial(listens, self.port), self._environ(), java=False
        )

    def start(self) -> None:
        require()
        # Keys, tickets and the secret that signs cookies: nobody else may enter.
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = {"realm": REALM, "host": HOST, "port": self.port, "folder": self.folder}
        self.conf.write_text(_CLIENT.format(**names))
        (self.folder / "kdc.conf").write_text(_SERVER.format(**names))
        if not (self.folder / "principal").exists():
            self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "of this folder alone")
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def keytab(self, name: str) -> Path:
        return self.folder / f"{name}.keytab"

    def make_keytab(self, name: str, principals: Sequence[str]) -> None:
        """A keytab with the keys of these principals, unless it is there already."""
        path = self.keytab(name)
        if path.exists():
            return
        for principal in principals:
            self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")
            self._run("kadmin.local", "-q", f"ktadd -k {path} {principal}")
        path.chmod(0o600)

    def ticket(self, keytab: Path, principal: str, *options: str) -> Path:
        """A ticket cache, as a person's `kinit` leaves it."""
        cache = self.folder / f"{principal}.ccache"
        self._run("kinit", "-c", str(cache), "-k", "-t", str(keytab), *options, principal)
        return cache

    def has_expired(self, cache: Path) -> bool:
        """No ticket in the cache is good any more, as `klist` sees it."""
        command = ["klist", "-s", "-c", str(cache)]
        return subprocess.run(command, env=self._environ(), cwd=self.folder, timeout=LIMIT).returncode != 0

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            command, env=self._environ(), cwd=self.folder, capture_output=True, text=True, timeout=LIMIT
        )
        if done.returncode:
            raise NotStarted(f"{command[0]} failed: {done.stderr[-500:]}")

    def _environ(self) -> dict[str, str]:
        return {**os.environ, **self.environ, "PATH": _PATH}
