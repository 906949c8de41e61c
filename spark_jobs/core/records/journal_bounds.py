"""Checks that a journal names only directories that its home serves.

Each account with write permission on a table's root can create a journal there, and the account that maintains all
tables would act on it. So records are checked like any other input: their paths must be those that the jobs use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.records.journal import FINISHED, INTENTS, LEFT, Record, RunState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.layout import Home, is_below, is_home, working_directory
from spark_jobs.core.values.model import FileListing

_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/]*)?(?P<path>/.*)\Z", re.DOTALL)
_WORKING = {"new": "compact_tmp", "old": "originals", "aside": "aside", "conflict": "conflict"}


def uri_path(uri: str) -> str:
    """Return the path of a URI, without scheme and authority, because a NameNode may be renamed."""
    match = _URI.match(uri)
    return match["path"].rstrip("/") if match else uri


def is_same_table(name: str, location: str, other: str, other_location: str) -> bool:
    """Tell whether a run of one table belongs to the other one: by its name, or by its location after a renaming."""
    # guard: run_of_this_table
    return name == other or uri_path(location) == uri_path(other_location)


@dataclass(frozen=True)
class ClosingRecord:
    """The last record of a run that was closed in `home`.

    Attributes:
        has_open_intent: an intent is open.
        homes: the homes in which the run has directories, with this one.
        home_id: the identity of the home.
    """

    home: str
    has_open_intent: bool
    homes: tuple[str, ...]
    home_id: str

    @classmethod
    def of(cls, last: Record, home: str) -> ClosingRecord | None:
        """Return None for a record that does not close the run. Raise Unsafe if a field of it is missing or wrong."""
        if last.kind not in (FINISHED, LEFT):
            return None
        still_open, homes, home_id = (last.body.get(name) for name in ("has_open_intent", "homes", "home_id"))
        if not (isinstance(still_open, bool) and isinstance(homes, list) and isinstance(home_id, str)):
            raise Unsafe(
                f"a journal record {last.kind} in {home} has no valid 'has_open_intent', 'homes' and 'home_id'; nothing"
                " is changed"
            )
        _check_homes(homes, home)
        return cls(home, still_open, _current_uris(homes, home), home_id)


def _check_homes(homes: Iterable[object], home: str) -> None:
    for other in homes:
        if not _is_home(other):
            raise Unsafe(
                f"a journal in {home} names {other!r}, which is not the path of a home; nothing is changed"
            )


def within(state: RunState, home: str) -> RunState:
    """Return the state with all paths below the current path of the home.

    The directory that holds the home may have been moved since the records were written, or its NameNode renamed.

    Raises:
        Unsafe: the journal names a path that its home does not serve.
    """
    _check_homes(state.homes, home)
    units = {
        key: replace(unit, swap=_checked_swap(unit.swap, Home(home))) for key, unit in state.units.items()
    }
    return replace(state, units=units, homes=_current_uris(state.homes, home))


def check_units(state: RunState, root: str, keys: Sequence[str], locations: Collection[str]) -> None:
    """Raise Unsafe for an intent on a directory below a partitioned table's root that is not one of its partitions.

    It is one if the metastore has a partition at that location, or if the path is that of a partition (`k1=v1/k2=v2`)
    that may have been dropped since. Units without an intent need no check: they are only moved back to the location
    that the metastore has, and their originals are checked by identity.

    Args:
        root: the URI of the table's root.
        keys: the partition keys.
        locations: the locations of the partitions in the metastore.
    """
    for unit in state.of_kind(*INTENTS):
        live = unit.swap.live
        directories = live[len(root) + 1 :].split("/")
        named = [directory.partition("=")[0].casefold() for directory in directories if "=" in directory]
        is_partition_path = len(named) == len(directories) and named == [key.casefold() for key in keys]
        if is_below(live, root) and live not in locations and not is_partition_path:
            raise Unsafe(
                f"a journal has an open intent on {live}, which is not a partition of this table; nothing is changed."
                " If it was a partition that was dropped during a run, add it again with that location (ALTER TABLE ..."
                " ADD PARTITION ... LOCATION) until the next job has recovered it"
            )


def _current_uris(homes: Sequence[str], home: str) -> tuple[str, ...]:
    """Return the current URIs of these homes.

    If the server of this home was renamed, the URIs of the other homes on that server change in the same way.
    """
    before = {server_of(other) for other in homes if uri_path(other) == uri_path(home)}
    return tuple(
        server_of(home) + uri_path(other) if server_of(other) in before else other for other in homes
    )


def server_of(uri: str) -> str:
    """Return scheme and authority of a URI; empty for a path without them."""
    match = _URI.match(uri)
    return uri[: match.start("path")] if match else ""


def _checked_swap(swap: Swap, home: Home) -> Swap:
    """Return the swap with the live directory where its home has it. Raise Unsafe for paths that it does not serve."""
    tails = {_path_in_working_directory(kind, getattr(swap, name)) for name, kind in _WORKING.items()}
    tail = tails.pop() if len(tails) == 1 else None
    served = tail is not None and (home.directory is None or "/" not in tail)
    if not served or not uri_path(swap.live).endswith(f"/{tail}"):
        raise Unsafe(
            f"a journal in {home.path} names {swap.live!r}, {swap.old!r} and {swap.new!r}, which are not the paths of a"
            " unit of this home; nothing is changed"
        )
    for name in _names(swap.originals, swap.compacted):
        if "/" in name or name in ("", ".", ".."):
            raise Unsafe(
                f"a journal in {home.path} lists {name!r}, which is not a file name; nothing is changed"
            )
    own = tail if home.directory is None else home.directory
    return replace(swap, live=f"{home.base}/{own}")  # guard: live_by_home


def _path_in_working_directory(kind: str, path: object) -> str | None:
    """Return the part of a path below its working directory of this kind; None if the path is not below one."""
    directory, _, tail = str(path).partition("/")
    parts = tail.split("/")
    invalid = any(part in ("", ".", "..") or is_home(part) for part in parts)
    return None if invalid or working_directory(directory) != kind else tail


def _is_home(path: object) -> bool:
    parts = uri_path(str(path)).split("/")
    return is_home(parts[-1]) and not {".", ".."} & set(parts) and str(path) != uri_path(str(path))


def _names(*listings: FileListing) -> Iterable[str]:
    return (file.name for listing in listings for file in listing.files)
