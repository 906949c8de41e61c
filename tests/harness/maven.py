"""Fetch the jars of a pom by Maven into a folder below .envs/: once, and anew when the pom changes."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LACK = "Maven is needed, and there is no mvn on PATH; Debian and Ubuntu: apt-get install maven"
#: What is kept of Maven's output in a message.
_SHOWN = 2000


class NoJars(Exception):
    """The libraries cannot be had; the message says what to do."""


@dataclass(frozen=True)
class Jars:
    """The jars of one pom.

    Attributes:
        shown: what the line of progress names.
        pom: the folder with pom.xml, and with those of its modules.
        home: the folder that gets the jars, and nothing else.
        key: the property of the pom that is this folder.
    """

    shown: str
    pom: Path
    home: Path
    key: str

    def ensure(self) -> Path:
        """Return the folder with the jars, which are fetched unless they are current.

        A second process that needs them waits until they are complete.

        Raises:
            NoJars: without Maven, or where Maven finds no way to them.
        """
        if not self.is_current():
            with self._locked():
                if not self.is_current():
                    self._fetch()
        return self.home

    def is_current(self) -> bool:
        """Return whether the folder is complete, and was made from the present pom."""
        return self._stamp.exists() and self._stamp.read_text() == self.fingerprint()

    def lack(self) -> str:
        """Return why they cannot be had here; an empty text where they are there, or may be fetched."""
        return "" if self.is_current() or shutil.which("mvn") else _LACK

    def fingerprint(self) -> str:
        """Return a hash of the pom and those of its modules."""
        poms = sorted(self.pom.rglob("pom.xml"))
        return hashlib.sha256(b"\0".join(pom.read_bytes() for pom in poms)).hexdigest()

    @property
    def _stamp(self) -> Path:
        return self.home / "stamp"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.home.parent.mkdir(parents=True, exist_ok=True)
        with self.home.with_name(f"{self.home.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _fetch(self) -> None:
        if reason := self.lack():
            raise NoJars(reason)
        print(f"fetching {self.shown}", flush=True)
        shutil.rmtree(self.home, ignore_errors=True)
        self._maven()
        # Last, so that an interrupted download is repeated.
        self._stamp.write_text(self.fingerprint())

    def _maven(self) -> None:
        command = ["mvn", "--quiet", "--batch-mode", "--file", str(self.pom), "package"]
        done = subprocess.run([*command, f"-D{self.key}={self.home}"], capture_output=True, text=True)
        if done.returncode:
            output = f"{done.stdout[-_SHOWN:]}{done.stderr[-_SHOWN:]}"
            raise NoJars(f"Maven could not fetch {self.shown}:\n{output}")
