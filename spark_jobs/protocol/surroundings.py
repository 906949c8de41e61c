"""The port of what surrounds the driver: programs, executors, ticket, rights. Only the verb `doctor` uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Versions:
    """The programs of a driver, and where it runs.

    Attributes:
        home: the directory of Spark.
        master: as Spark has it, such as `yarn`.
        host: the name of the machine.
    """

    spark: str
    home: str
    java: str
    python: str
    master: str
    deploy_mode: str
    host: str


@dataclass(frozen=True)
class Ticket:
    """How the account of a driver is known to the services of the cluster.

    Attributes:
        secured: Hadoop's configuration asks for Kerberos.
        account: as Hadoop's client has it.
        valid: there is a ticket, or a login by keytab.
        ends: when the ticket ends; None if it is not known.
        by_keytab: the driver logs in again by itself.
        tokens: the number of delegation tokens.
    """

    secured: bool
    account: str
    valid: bool = False
    ends: datetime | None = None
    by_keytab: bool = False
    tokens: int = 0


@dataclass(frozen=True)
class MetastoreVersions:
    """The version of Spark's client of the metastore, and of the server; None if it is not known, with the reason."""

    client: str
    server: str | None
    unknown: str | None = None


class Surroundings(Protocol):
    """What the verb `doctor` asks of the driver besides the ports of the other verbs. Each method may raise OSError."""

    def versions(self) -> Versions: ...
    def executors(self, seconds: float) -> Mapping[str, int]:
        """Run some tasks, and return the number of them by host and versions of Spark and Java.

        Raises:
            LakekeeperError: no executor has run them within this time, or a task has failed.
        """

    def executors_python(self, seconds: float) -> Mapping[str, int]:
        """Run some tasks in Python, and return the number of them by host and version. Raise LakekeeperError."""

    def ticket(self) -> Ticket: ...
    def metastore_versions(self) -> MetastoreVersions: ...
    def safe_mode(self, path: str) -> bool:
        """Tell whether the NameNode of a path refuses writes. Other file systems never do."""

    def check_access(self, path: str, rights: str) -> None:
        """Raise PermissionError if the account lacks one of these rights (of `rwx`) in a directory."""

    def trash_root(self, path: str) -> str:
        """Return the directory of the trash to which the account would move a path."""
