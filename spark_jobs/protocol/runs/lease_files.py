"""The lease files of a home, as they are listed."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.values.layout import LeaseFile
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.home_format import check_format


@dataclass(frozen=True)
class Seen:
    """A lease file as it was listed. Only a change of it shows that its owner is alive."""

    file: LeaseFile
    mtime: int
    length: int


def list_leases(fs: RecordFiles, home: str) -> list[Seen]:
    return [seen for seen, _ in list_names(fs, home) if seen is not None]


def list_names(fs: RecordFiles, home: str) -> list[tuple[Seen | None, str]]:
    """Return each name in a home, with the lease that it names; None for one that no job gives to a lease.

    Raises:
        OtherVersion: the records of the home have another format.
    """
    with fs.at_once():
        entries = fs.list(home)
    check_format(fs, home, entries)
    parsed = [(LeaseFile.parse(entry.name), entry) for entry in entries]
    return [
        (Seen(file, entry.mtime, entry.length) if file is not None else None, entry.name)
        for file, entry in parsed
    ]


def highest(fs: RecordFiles, home: str) -> Seen | None:
    """Return the lease of the highest epoch, or None. Of one epoch, the released file is the newer one."""
    return max(list_leases(fs, home), key=lambda seen: (seen.file.epoch, seen.file.released), default=None)


def held_lease(fs: RecordFiles, home: str) -> tuple[str, int] | None:
    """Return the path of the lease that is held in a home, and when it was renewed (ms); None if nobody holds one."""
    try:
        seen = highest(fs, home)
    except FileNotFoundError:
        return None
    return None if seen is None or seen.file.released else (f"{home}/{seen.file.name}", seen.mtime)
