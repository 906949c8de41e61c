"""What a journal may be about: the directories that its home serves, and nothing else.

Whoever may write a table's root can put a journal there, and the account that maintains all tables would act on it. So
a record is input like any other: what it names must lie where we would have put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spark_jobs.core.errors import Unsafe
from spark_jobs.core.journal import RunState, Swap
from spark_jobs.core.layout import HOME, Home, working_folder
from spark_jobs.core.model import Manifest, name_of

_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/]*)?(?P<path>/.*)\Z", re.DOTALL)
_WORKING = {"new": "compact_tmp", "old": "old", "aside": "undone", "conflict": "conflict"}


def bare(uri: str) -> str:
    """The path of a URI, without scheme and authority: a NameNode may get another name."""
    match = _URI.match(uri)
    return match["path"].rstrip("/") if match else uri


def check_bounds(state: RunState, home: str) -> None:
    """Raises Unsafe unless all that the journal names is what its home serves."""
    for unit in state.units.values():
        _check_swap(unit.swap, Home(home))
    for other in state.homes:
        if not _is_home(other):
            raise Unsafe(f"a journal in {home} names {other!r}, which is no home of ours; nothing is changed")


def _check_swap(swap: Swap, home: Home) -> None:
    tails = {_tail(kind, getattr(swap, name)) for name, kind in _WORKING.items()}
    tail = tails.pop() if len(tails) == 1 else None
    whole = name_of(home.path) == HOME
    served = tail is not None and (whole or home.path.endswith(f"/{HOME}-{tail}"))
    if not served or bare(swap.live) != bare(f"{home.base}/{tail}"):
        raise Unsafe(
            f"a journal in {home.path} is about {swap.live!r} by way of {swap.old!r} and {swap.new!r}, which is not"
            " what this home serves; nothing is changed"
        )
    for name in _names(swap.originals, swap.compacted):
        if "/" in name or name in ("", ".", ".."):
            raise Unsafe(
                f"a journal in {home.path} lists {name!r}, which is no file's name; nothing is changed"
            )


def _tail(kind: str, path: object) -> str | None:
    """The part of a path below its working folder; None where it is not the path of such a folder's directory."""
    folder, _, tail = str(path).partition("/")
    parts = tail.split("/")
    odd = any(part in ("", ".", "..") or part.startswith(HOME) for part in parts)
    return None if odd or working_folder(folder) != kind else tail


def _is_home(path: object) -> bool:
    parts = bare(str(path)).split("/")
    return parts[-1].startswith(HOME) and not {".", ".."} & set(parts) and str(path) != bare(str(path))


def _names(*manifests: Manifest) -> Iterable[str]:
    return (file.name for manifest in manifests for file in manifest.files)
