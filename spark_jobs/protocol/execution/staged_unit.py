"""A unit whose files a joint write has written into a directory of the run, and which are verified."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.execution.group_writer import WrittenGroup


@dataclass(frozen=True)
class StagedUnit:
    """The files of one unit, before they are moved into its new directory.

    Attributes:
        directory: the URI of the directory that holds them.
        files: as they were listed before their footers were compared with the originals'.
        seconds: the unit's share of the time, by its bytes.
    """

    directory: str
    files: FileListing
    written: WrittenGroup
    seconds: float

    def check(self, new: str, moved: FileListing) -> list[str]:
        """Raise VerificationFailed if the new directory holds other data than the files that were compared.

        Return no warnings: the figures of all columns were compared already.
        """
        if moved.data != self.files.data:  # guard: joint_files_only
            changes = self.files.diff(moved)
            raise VerificationFailed(f"{new} does not hold the files that were compared: {changes}")
        return []
