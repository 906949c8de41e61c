"""The attributes (owner, mode, ACL, policies) that a new directory and its files copy from those that they replace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.messages.errors import UnitChanged, VerificationFailed
from spark_jobs.core.values.attributes import Attributes, LostAttribute, check_lost, combine
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.file_system import FileSystem, Status
from spark_jobs.protocol.runs.working_directories import CLOSED, WRITABLE

_READ_BIT_OF_ALL = 0o004
_PROBE = "_permissions"


@dataclass(frozen=True)
class UnitAttributes:
    """The attributes of a unit's directory, and those that its rewritten files will have.

    Attributes:
        lost: the attributes in which the original files differ, so that the new files cannot have them.
        listed: what the listing showed of the files: owner, group, mode, replication, and whether there is an ACL.
    """

    fs: FileSystem
    location: str
    directory: Attributes
    file: Attributes
    lost: tuple[LostAttribute, ...]
    listed: frozenset[str]

    @classmethod
    def of(
        cls, fs: FileSystem, location: str, files: FileListing, entries: Sequence[Status] | None = None
    ) -> UnitAttributes:
        """Read the attributes of a unit from its directory and a sample of its files.

        The sample has one file for each combination of owner, group, mode and replication in the listing, and three
        files for all other attributes. Reading one file takes several calls, and there may be 65,000 files.

        Args:
            entries: what the directory holds, if it was listed just now.
        """
        names = [file.name for file in files.data]
        sample = (names[0], names[len(names) // 2], names[-1])
        listed = _access(fs.list(location) if entries is None else entries, names)
        sampled = dict.fromkeys((*_one_file_per_value(listed), *sample))
        attributes = [fs.attributes(f"{location}/{name}") for name in sampled]
        file, lost = combine(attributes)
        directory = fs.attributes(location)
        if len({item.owner for item in attributes}) > 1 and not file.mode & _READ_BIT_OF_ALL:
            # A user who may only add files must not become the owner of a file that also holds rows of other users.
            file = replace(file, owner=directory.owner)  # guard: owner_of_merged_files
        return cls(fs, location, directory, file, tuple(lost), frozenset(listed.values()))

    def check_directory(self) -> None:
        """Raise UnitChanged if attributes of the directory have changed since they were read.

        Data to which access was removed meanwhile must not become readable again.
        """
        if self.fs.attributes(self.location) != self.directory:
            raise self._changed()

    def check_files(self, files: FileListing, entries: Sequence[Status]) -> None:
        """Raise UnitChanged if attributes of one of these files have changed since they were read.

        Only the attributes in the listing are compared.
        """
        now = _access(entries, [file.name for file in files.data])
        if not self.listed.issuperset(now.values()):
            raise self._changed()

    def _changed(self) -> UnitChanged:
        return UnitChanged(
            f"owner, mode, ACL or another attribute of {self.location} changed while it was compacted"
        )

    def apply_to_directory(self, new: str, policy: str | None, probes: Probes | None = None) -> list[str]:
        """Set the attributes of a new directory before anything is written into it.

        Policies apply only to files that are created afterwards. Attributes that cannot be set, on a directory or on a
        file, are found before the work is done. At the end the directory is closed to all but its owner.

        Args:
            policy: the option `attributes`.
            probes: what was found out about the files of other units of this table.

        Returns:
            Warnings.

        Raises:
            Refusal: ATTRIBUTES, an attribute cannot be set.
        """
        warnings = check_lost(self.lost, policy, self._files)
        wanted = replace(self.directory, mode=self.directory.mode | WRITABLE)
        lost = self.fs.set_attributes(new, wanted)  # guard: folder_attributes_early
        warnings += check_lost(lost, policy, self.location)
        probed = (probes or Probes(self.fs)).lost(new, self)
        warnings += check_lost(probed, policy, self._files)
        # Closed by its mode, and without an ACL: no user reads files whose attributes are not set yet.
        now = self.fs.attributes(new) if lost else wanted
        check_lost(self.fs.set_attributes(new, replace(now, mode=CLOSED, acl=())), "require", new)
        return warnings

    def apply_to_files(self, new: str, policy: str | None) -> list[str]:
        """Set the attributes of the new files, and then the final ones of the directory, before readers can see them.

        Returns:
            Warnings.

        Raises:
            VerificationFailed: it has a directory. A task that Spark has given up creates one if it goes on. With the
                mode of a file nobody could list or delete it.
        """
        warnings: list[str] = []
        for entry in self.fs.list(new):
            if entry.is_dir:  # guard: no_file_mode_on_directories
                raise VerificationFailed(
                    f"{entry.path} is a directory: a late task of this write has created it"
                )
            # guard: file_attributes
            warnings += check_lost(self.fs.set_attributes(entry.path, self.file), policy, self._files)
        warnings += check_lost(
            self.fs.set_attributes(new, self.directory), policy, self.location
        )  # guard: folder_attributes
        return warnings

    @property
    def _files(self) -> str:
        return f"the files of {self.location}"


class Probes:
    """What cannot be set on new files, found out by a file without content before rows are written.

    It follows from the attributes of the directory, which the file inherits, and those of the file. In most tables they
    are the same for all units. The files with the rows get theirs one by one, and are checked whatever is known here.
    """

    def __init__(self, fs: FileSystem) -> None:
        self._fs = fs
        self._known: list[tuple[Attributes, Attributes, Sequence[LostAttribute]]] = []

    def lost(self, new: str, unit: UnitAttributes) -> Sequence[LostAttribute]:
        """Return what cannot be set on files of a new directory, which has its attributes already."""
        for directory, file, known in self._known:
            if (directory, file) == (unit.directory, unit.file):
                return known
        probed = self._probe(f"{new}/{_PROBE}", unit.file)
        self._known.append((unit.directory, unit.file, probed))
        return probed

    def _probe(self, path: str, file: Attributes) -> Sequence[LostAttribute]:
        self._fs.create(path, b"")
        try:
            return self._fs.set_attributes(path, file)
        finally:
            self._fs.delete_file(path)


def _access(entries: Sequence[Status], names: Sequence[str]) -> dict[str, str]:
    """Return what a listing shows of each file: owner, group, mode, replication, and whether there is an ACL."""
    wanted = set(names)
    listed = ((entry.name, entry.access) for entry in entries)
    return {name: access for name, access in listed if name in wanted}


def _one_file_per_value(listed: dict[str, str]) -> list[str]:
    """Return one file name for each distinct value in the listing, the most frequent value first."""
    first = {access: name for name, access in reversed(listed.items())}
    return [first[access] for access, _ in Counter(listed.values()).most_common()]
