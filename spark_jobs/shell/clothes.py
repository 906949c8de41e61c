"""Owner, mode, ACL, policies: what a new directory and its files take over from the ones that they replace."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_jobs.core.attributes import Attributes, judge, usual
from spark_jobs.core.model import Manifest
from spark_jobs.shell.ports import FileSystem

#: An owner without these could not write into his own directory.
_WRITABLE = 0o300


@dataclass(frozen=True)
class Clothes:
    """The attributes of a unit's directory, and those that its files have; both as they were found."""

    fs: FileSystem
    location: str
    folder: Attributes
    file: Attributes
    mixed: bool

    @classmethod
    def of(cls, fs: FileSystem, location: str, manifest: Manifest) -> Clothes:
        """Three files stand for all: it is a handful of calls for each, and there may be 65,000."""
        names = [file.name for file in manifest.data]
        sample = dict.fromkeys((names[0], names[len(names) // 2], names[-1]))
        file, mixed = usual([fs.attributes(f"{location}/{name}") for name in sample])
        return cls(fs, location, fs.attributes(location), file, mixed)

    def dress_folder(self, new: str, policy: str | None) -> list[str]:
        """Before anything is written: policies and default ACLs count for what comes into the directory from then on,
        and what may not be given is known before the work. Returns warnings; raises Refusal ATTRIBUTES."""
        wanted = replace(self.folder, mode=self.folder.mode | _WRITABLE)
        return judge(self.fs.give(new, wanted), policy, self.location)

    def dress_files(self, new: str, policy: str | None) -> list[str]:
        """Before any reader can see them: the files, and then the directory for good."""
        warnings = (
            [f"the files of {self.location} differ in owner, mode or replication"] if self.mixed else []
        )
        for entry in self.fs.list(new):
            warnings += judge(self.fs.give(entry.path, self.file), policy, f"the files of {self.location}")
        warnings += judge(self.fs.give(new, self.folder), policy, self.location)
        return list(dict.fromkeys(warnings))
