"""Whose records a job acts on.

Whoever may write a table's root may put a journal there, and the account that maintains all tables could do more than
he could himself. So a record is acted on only if its file belongs to this account, to the owner of the table's root
(who may do what he likes with the table), or to an account that the configuration names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.file_system import FileSystem, Status


class Trust:
    """The accounts whose records count for one table. Whom a root belongs to is looked up only for strangers.

    Without a `root`, in homes that do not lie there, its owner is a stranger like any other: he could have a job do
    there what he may not.
    """

    def __init__(self, fs: FileSystem, root: str | None, named: Iterable[str] = ()) -> None:
        self._fs = fs
        self._root = root
        self._named = tuple(named)
        self._known = {"", fs.user(), *self._named}  # empty: a local disk, which does not tell

    def check(self, folder: str, owners: Iterable[str]) -> None:
        """Raises Refusal for a run's folder that holds a record of anybody else."""
        strangers = self._strangers(owners)
        if strangers:
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"{folder} holds records of {', '.join(strangers)}, whose account is not {self._fs.user()}"
                f"{self._nor_owner()}: nothing is touched. If that account may work here, name it: trusted_owners in"
                " the configuration, or --trusted-owners. If not, look at what it put there before you remove it: rows"
                " may lie below __old_ folders only",
            )

    def check_partition(self, directory: Status) -> None:
        """Raises Refusal for a partition's directory outside the root that belongs to anybody else."""
        if self._strangers([directory.owner]):
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"{directory.path} lies outside the table's root and belongs to {directory.owner}, whose account is"
                f" not {self._fs.user()}{self._nor_owner()}: it may be part of somebody else's table. If that account"
                " writes this table, name it: trusted_owners in the configuration, or --trusted-owners",
            )

    def check_folder(self, folder: Status) -> None:
        """Raises Refusal for a run's folder whose content somebody else may have put there.

        A file keeps its owner when it is renamed, so that only a folder that nobody else may write to tells whose
        records it holds. Its group may, where accounts are named that take turns: else none could go on with another's.
        """
        self.check(folder.path, [folder.owner])
        if folder.shared == "others" or (folder.shared and not self._named):  # guard: shared_run_folder
            raise Refusal(
                RefusalCode.UNTRUSTED_OWNER,
                f"{folder.path} may be written by other accounts than {folder.owner}: nothing is touched. Look at what"
                f" is in it, and take the right away: hdfs dfs -chmod go-w '{folder.path}'",
            )

    def _strangers(self, owners: Iterable[str]) -> list[str]:
        unknown = set(owners) - self._known
        return sorted(unknown - {self._owner()}) if unknown else []

    def _nor_owner(self) -> str:
        if self._root is None:
            return ""
        return (
            f", nor that of the owner of {self._root}"
            if self._owner()
            else f"; {self._root} is missing right now"
        )

    def _owner(self) -> str:
        """Empty while the root is not there, as between two renames of a table without partitions."""
        found = self._fs.status(self._root) if self._root is not None else None
        return found.owner if found else ""


class RunFolderTrust:
    """Whose records count in one run's folder. One without any is no run, and nobody's business: a kill, or a late task
    of a dead driver, leaves such a folder, as open as the umask has it."""

    def __init__(self, trust: Trust, folder: Status) -> None:
        self._trust = trust
        self._folder = folder

    def check(self, owners: Collection[str]) -> None:
        """Raises Refusal for records of these owners that do not count."""
        if owners:  # guard: folders_without_records
            self._trust.check_folder(self._folder)  # guard: run_folder_owner
            self._trust.check(self._folder.path, owners)  # guard: journal_owner
