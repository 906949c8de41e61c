"""The lease files of a home, as they are listed, and what they say of their owner.

The content is only shown, and tells a job its own file after a lost answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.options.option import VERBS
from spark_jobs.core.records.record_files import DECODING_ERRORS, check_length, parsed
from spark_jobs.core.values.layout import LeaseFile
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.home_format import check_format

#: The largest lease file that is read. The jobs write some hundred bytes.
_MOST_BYTES = 1 << 16
#: The forms of what is shown. Whoever may write to the directory could else have a message tell a person what to do.
_FORMS = {
    "verb": re.compile("|".join(VERBS)),
    "host": re.compile(r"[A-Za-z0-9._-]{1,255}"),
    "pid": re.compile(r"[0-9]{1,19}"),
    "since": re.compile(r"[0-9T:.+-]{19,32}"),
}


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


def read_content(fs: RecordFiles, path: str, length: int | None = None) -> Mapping[str, Any]:
    """Return what a lease file says; nothing if it cannot be read, or is none of the jobs. No error is raised.

    Args:
        length: its size in bytes, if it is known.
    """
    try:
        if length is None:
            status = fs.status(path)
            length = status.length if status else 0
        check_length(length, _MOST_BYTES)
        content = parsed(fs.read(path))
    except (OSError, *DECODING_ERRORS):
        return {}
    return content if isinstance(content, dict) else {}


def described(content: Mapping[str, Any]) -> str | None:
    """Return who holds a lease, by what its file says; None if that has another form."""
    fields = {name: str(content[name]) for name in _FORMS if type(content.get(name)) in (str, int)}
    if not all(form.fullmatch(fields.get(name, "")) for name, form in _FORMS.items()):  # guard: lease_texts
        return None
    return f"{fields['verb']} on {fields['host']}, process {fields['pid']}, since {fields['since']}"
