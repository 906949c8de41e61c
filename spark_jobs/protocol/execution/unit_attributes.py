"""Owner, mode, ACL, policies: what a new directory and its files take over from the ones that they replace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from spark_jobs.core.attributes import Attributes, LostAttribute, check_lost, combine
from spark_jobs.core.errors import UnitChanged
from spark_jobs.core.model import FileListing
from spark_jobs.protocol.file_system import FileSystem

#: While it is written in, a directory is its owner's alone: what lies in it has not got its own permissions yet.
_CLOSED = 0o700
#: An owner without these could not write into his own directory.
_WRITABLE = 0o300
_READ_BIT_OF_ALL = 0o004
_PROBE = "_permissions"


@dataclass(frozen=True)
class UnitAttributes:
    """The attributes of a unit's directory, and those that its files will have; `lacks` is what they differ in."""

    fs: FileSystem
    location: str
    folder: Attributes
    file: Attributes
    lost: tuple[LostAttribute, ...]
    listed: frozenset[str]

    @classmethod
    def of(cls, fs: FileSystem, location: str, files: FileListing) -> UnitAttributes:
        """One file stands for all that are listed with the same owner, group, mode and replication, and three for all
        the rest: looking closer is a handful of calls for each, and there may be 65,000."""
        names = [file.name for file in files.data]
        sample = (names[0], names[len(names) // 2], names[-1])
        listed = _listed(fs, location, names)
        looked_at = dict.fromkeys((*_kinds(listed), *sample))
        found = [fs.attributes(f"{location}/{name}") for name in looked_at]
        file, lost = combine(found)
        folder = fs.attributes(location)
        if len({item.owner for item in found}) > 1 and not file.mode & _READ_BIT_OF_ALL:
            # Whoever only may add files must not own the one in which they end up with those of others.
            file = replace(file, owner=folder.owner)  # guard: owner_of_merged_files
        return cls(fs, location, folder, file, tuple(lost), frozenset(listed.values()))

    def check_unchanged(self, files: FileListing) -> None:
        """Raises UnitChanged where somebody gave the directory, or one of these files, something else meanwhile: what
        was closed must not be open again. Of the files, what the listing shows."""
        folder = self.fs.attributes(self.location)
        listed = _listed(self.fs, self.location, [file.name for file in files.data])
        if folder != self.folder or not self.listed.issuperset(listed.values()):
            raise UnitChanged(
                f"owner, mode, ACL or another attribute of {self.location} changed while it was compacted"
            )

    def apply_to_directory(self, new: str, policy: str | None) -> list[str]:
        """Before anything is written: policies count for what comes into the directory from then on, and what may not
        be given, to a directory or to a file, is known before the work. Returns warnings; raises Refusal ATTRIBUTES."""
        warnings = check_lost(self.lost, policy, self._files)
        wanted = replace(self.folder, mode=self.folder.mode | _WRITABLE)
        warnings += check_lost(
            self.fs.set_attributes(new, wanted), policy, self.location
        )  # guard: folder_attributes_early
        warnings += self._probe(f"{new}/{_PROBE}", policy)
        # Closed by its mode, and by an ACL that is gone: nobody reads what is not dressed yet.
        check_lost(
            self.fs.set_attributes(new, replace(self.fs.attributes(new), mode=_CLOSED, acl=())),
            "require",
            new,
        )
        return warnings

    def _probe(self, path: str, policy: str | None) -> list[str]:
        self.fs.create(path, b"")
        try:
            return check_lost(self.fs.set_attributes(path, self.file), policy, self._files)
        finally:
            self.fs.delete_file(path)

    def apply_to_files(self, new: str, policy: str | None) -> list[str]:
        """Before any reader can see them: the files, and then the directory for good."""
        warnings: list[str] = []
        for entry in self.fs.list(new):
            # guard: file_attributes
            warnings += check_lost(self.fs.set_attributes(entry.path, self.file), policy, self._files)
        warnings += check_lost(
            self.fs.set_attributes(new, self.folder), policy, self.location
        )  # guard: folder_attributes
        return warnings

    @property
    def _files(self) -> str:
        return f"the files of {self.location}"


def copy_directory_attributes(fs: FileSystem, source: str, target: str, policy: str | None) -> list[str]:
    """A folder takes over another one's attributes. Returns warnings; raises Refusal ATTRIBUTES."""
    found = fs.attributes(source)
    return check_lost(fs.set_attributes(target, replace(found, mode=found.mode | _WRITABLE)), policy, source)


def _listed(fs: FileSystem, location: str, names: list[str]) -> dict[str, str]:
    """What the listing shows of these files: owner, group, mode, replication, and whether there is an ACL."""
    wanted = set(names)
    return {entry.name: entry.access for entry in fs.list(location) if entry.name in wanted}


def _kinds(listed: dict[str, str]) -> list[str]:
    """A file of each kind that the listing shows, the most frequent first."""
    first = {access: name for name, access in reversed(listed.items())}
    return [first[access] for access, _ in Counter(listed.values()).most_common()]
