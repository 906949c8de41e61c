"""Whose records a job acts on.

Whoever may write a table's root may put a journal there, and the account that maintains all tables could do more than
he could himself. So a record is acted on only if its file belongs to this account, to the owner of the table's root
(who may do what he likes with the table), or to an account that the configuration names.
"""

from __future__ import annotations

from collections.abc import Iterable

from spark_jobs.core.errors import Refusal
from spark_jobs.shell.ports import FileSystem


class Trust:
    """The accounts whose records count for one table. Whom a root belongs to is looked up only for strangers."""

    def __init__(self, fs: FileSystem, root: str, named: Iterable[str] = ()) -> None:
        self._fs = fs
        self._root = root
        self._known = {"", fs.user(), *named}  # empty: a local disk, which does not tell

    def check(self, folder: str, owners: Iterable[str]) -> None:
        """Raises Refusal for a run's folder that holds a record of anybody else."""
        strangers = sorted(set(owners) - self._known - {self._owner()} if set(owners) - self._known else ())
        if strangers:
            raise Refusal(
                "UNTRUSTED_OWNER",
                f"{folder} holds records of {', '.join(strangers)}, who is neither {self._fs.user()} nor the owner of"
                f" {self._root}: nothing is touched. If that account may work here, name it: trusted_owners in the"
                " configuration, or --trusted-owners; if not, look at what it put there and remove the folder",
            )

    def _owner(self) -> str:
        """Empty while the root is not there, as between two renames of a table without partitions."""
        found = self._fs.status(self._root)
        return found.owner if found else ""
