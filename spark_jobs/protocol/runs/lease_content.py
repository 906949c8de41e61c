"""What a lease file says of its owner. It is only shown, and tells a job its own file after a lost answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from spark_jobs.core.options.option import VERBS
from spark_jobs.core.records.record_files import DECODING_ERRORS, check_length, parsed
from spark_jobs.protocol.file_system import RecordFiles

#: The largest lease file that is read. The jobs write some hundred bytes.
_MOST_BYTES = 1 << 16
#: The forms of what is shown. Whoever may write to the directory could else have a message tell a person what to do.
_FORMS = {
    "verb": re.compile("|".join(VERBS)),
    "host": re.compile(r"[A-Za-z0-9._-]{1,255}"),
    "pid": re.compile(r"[0-9]{1,19}"),
    "since": re.compile(r"[0-9T:.+-]{19,32}"),
}


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
