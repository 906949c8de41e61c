"""Checks whose records a job acts on.

Each account with write permission on a table's root can create a journal there, and the account of the jobs may do more
than that account. So a record counts only if its file belongs to the account of the jobs, to the owner of the table's
root, who may change the table anyway, or to an account that the configuration names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from spark_jobs.core.messages.commands import word
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import hdfs
from spark_jobs.protocol.file_system import FileSystem, Status


class Trust:
    """The accounts whose records count for one table.

    The owner of the root is read only if a record belongs to an account that is not known yet.

    Args:
        root: the table's root; None for homes outside it, where its owner has no special rights.
        named: the accounts in `trusted_owners`.
    """

    def __init__(self, fs: FileSystem, root: str | None, named: Iterable[str] = ()) -> None:
        self._fs = fs
        self._root = root
        self._named = tuple(named)
        self._known = {"", fs.user(), *self._named}  # An empty owner: a local disk, whose listings have none.

    def counts(self, owner: str) -> bool:
        """Tell whether what this account has written counts."""
        return not self._untrusted([owner])

    def check(self, directory: str, owners: Iterable[str]) -> None:
        """Raise Refusal for a run's directory that holds a record of an account that is not trusted."""
        untrusted = self._untrusted(owners)
        if untrusted:
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"{directory} holds records of {', '.join(untrusted)}, whose account is not {self._fs.user()}"
                f"{self._nor_owner()}: nothing is changed. If that account may work here, name it: trusted_owners in"
                " the configuration, or --trusted-owners. If not, check the directory before you remove it: some rows"
                " may be only in its __originals_ directories",
            )

    def check_partition(self, directory: Status) -> None:
        """Raise Refusal for a partition's directory outside the root whose owner is not trusted."""
        if self._untrusted([directory.owner]):
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"{directory.path} is outside the table's root and belongs to {directory.owner}, whose account is"
                f" not {self._fs.user()}{self._nor_owner()}: it may be part of another table. If that account"
                " writes this table, name it: trusted_owners in the configuration, or --trusted-owners",
                f"--trusted-owners {word(directory.owner)}, or `trusted_owners` in the configuration",
            )

    def check_directory(self, directory: Status) -> None:
        """Raise Refusal for a run's directory that other accounts may write to.

        A file keeps its owner when it is renamed. So the owners of records prove something only if no other account
        can move files into the directory. With `trusted_owners` the group may write: these accounts continue each
        other's runs.
        """
        self.check(directory.path, [directory.owner])
        if directory.shared == "others" or (directory.shared and not self._named):  # guard: shared_run_folder
            command = hdfs.close_to_others(directory.path)
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"other accounts than {directory.owner} may write to {directory.path}: nothing is changed. Check its"
                f" content, and remove the permission: {command}",
                command,
            )

    def _untrusted(self, owners: Iterable[str]) -> list[str]:
        unknown = set(owners) - self._known
        return sorted(unknown - {self._owner()}) if unknown else []

    def _nor_owner(self) -> str:
        """Return the part of a message that names the owner of the root; empty for homes outside it."""
        if self._root is None:
            return ""
        return (
            f", nor that of the owner of {self._root}"
            if self._owner()
            else f"; {self._root} does not exist now"
        )

    def _owner(self) -> str:
        """Return the owner of the root; empty while it is missing, as between the renames of an unpartitioned table."""
        status = self._fs.status(self._root) if self._root is not None else None
        return status.owner if status else ""


class RunDirectoryTrust:
    """The check of the records in one run's directory.

    A directory without records is no run, and is not checked. A kill, or a late task of a driver that has died, may
    leave such a directory with the permissions of its umask.
    """

    def __init__(self, trust: Trust, directory: Status) -> None:
        self._trust = trust
        self._directory = directory

    def check(self, owners: Collection[str]) -> None:
        """Raise Refusal if records of these owners do not count."""
        if owners:  # guard: folders_without_records
            self._trust.check_directory(self._directory)  # guard: run_folder_owner
            self._trust.check(self._directory.path, owners)  # guard: journal_owner
