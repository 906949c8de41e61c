"""The figures of each column in the footers, by which a rewrite that changed values is noticed.

`parquet_statistics` and `orc_statistics` decide which figures of a file are exact. A figure is compared only where all
files have it. A wrong refusal is worse than a figure that is not compared: the row counts are compared in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spark_jobs.core.messages.errors import FiguresDiffer


class Bounds(NamedTuple):
    """The smallest and the largest value.

    It is a tuple, because thousands of files have one for each leaf.

    Attributes:
        truncated: the writer may have shortened them. A shortened minimum is a prefix of the real one. A shortened
            maximum is a prefix of the real one too, except for its last character, which is a later one.
    """

    minimum: Any
    maximum: Any
    truncated: bool = False


class LeafStatistics(NamedTuple):
    """What a footer says of one leaf; None where it says nothing, or nothing exact.

    Attributes:
        entries: the values, nulls and empty collections included.
        non_null: the values that are not null.
        bounds: None also where there are no values.
        total: the sum of integers, the number of true values, or the length in bytes of all texts.
    """

    entries: int | None = None
    non_null: int | None = None
    bounds: Bounds | None = None
    total: int | None = None


#: The leaves of one file, by lower-cased dotted path. None: the file has no statistics.
FileStatistics = Mapping[str, LeafStatistics]

_SIGN = 2**63
#: A leaf about which nothing is known.
UNKNOWN = LeafStatistics()
#: A leaf without values, as in a file without rows.
EMPTY = LeafStatistics(0, 0, None, 0)
#: A leaf that a file lacks: its rows have no value, and how many entries a rewrite gives them depends on its parents.
_ABSENT = LeafStatistics(None, 0, None, 0)


def combined(parts: Sequence[LeafStatistics]) -> LeafStatistics:
    """Return the figures of one leaf over several row groups or files."""
    if len(parts) == 1:
        return parts[0]
    return LeafStatistics(
        _sum(part.entries for part in parts),
        _sum(part.non_null for part in parts),
        _union([part.bounds for part in parts if part.non_null != 0]),
        _sum(part.total for part in parts),
    )


def of_files(files: Sequence[FileStatistics | None]) -> dict[str, LeafStatistics]:
    """Return the figures of each leaf over all files; nothing if a file has no statistics."""
    known = [file for file in files if file is not None]
    if len(known) != len(files):
        return {}
    paths = dict.fromkeys(path for file in known for path in file)
    return {path: combined([file.get(path, _ABSENT) for file in known]) for path in paths}


def check_statistics(before: FileStatistics, after: FileStatistics) -> None:
    """Check that no leaf has other figures than before.

    Raises:
        FiguresDiffer: a figure differs.
    """
    for difference in differences(before, after):
        raise FiguresDiffer(difference)  # guard: leaf_statistics_compared


def differences(before: FileStatistics, after: FileStatistics) -> Iterator[str]:
    """Return each figure of a leaf that is not as before, as a clause."""
    for path in sorted(before.keys() & after.keys()):
        for figure, was, now in _differences(before[path], after[path]):
            yield f"column '{path}': {figure} {_text(was)} in the originals, and {_text(now)} in the rewritten files"


def _differences(before: LeafStatistics, after: LeafStatistics) -> Iterator[tuple[str, Any, Any]]:
    counts = (
        ("values with nulls", before.entries, after.entries),
        ("values that are not null", before.non_null, after.non_null),
        ("sum", _wrapped(before.total), _wrapped(after.total)),
    )
    yield from ((name, was, now) for name, was, now in counts if None not in (was, now) and was != now)
    if before.bounds and after.bounds:
        yield from _different_bounds(before.bounds, after.bounds)


def _different_bounds(before: Bounds, after: Bounds) -> Iterator[tuple[str, Any, Any]]:
    truncated = before.truncated or after.truncated
    if not (_one_begins_other if truncated else _equal)(before.minimum, after.minimum):
        yield "minimum", before.minimum, after.minimum
    if not (_same_maximum if truncated else _equal)(before.maximum, after.maximum):
        yield "maximum", before.maximum, after.maximum


def _wrapped(total: int | None) -> int | None:
    """Return a sum as 64 bits hold it: ORC does not notice each overflow of its sums."""
    return None if total is None else (total + _SIGN) % (2 * _SIGN) - _SIGN


def _equal(before: Any, after: Any) -> bool:
    return bool(before == after)


def _one_begins_other(before: str, after: str) -> bool:
    """Tell whether both can be prefixes of one text."""
    return before.startswith(after) or after.startswith(before)


#: The last code points of one, two, three and four bytes in UTF-8. A writer that shortens a maximum increments the last
#: character; one of these would become longer, so that it keeps it, and increments the character before.
_NOT_INCREMENTED = "\u007f\u07ff\uffff\U0010ffff"


def _same_maximum(before: str, after: str) -> bool:
    return before == after or _one_begins_other(_unchanged(before), _unchanged(after))


def _unchanged(maximum: str) -> str:
    """Return the part of a maximum that its writer has not incremented."""
    return maximum.rstrip(_NOT_INCREMENTED)[:-1]


def _sum(counts: Iterable[int | None]) -> int | None:
    values = list(counts)
    return None if None in values else sum(count for count in values if count is not None)


def _union(bounds: Sequence[Bounds | None]) -> Bounds | None:
    known = [each for each in bounds if each is not None]
    if not known or len(known) != len(bounds):
        return None
    return Bounds(
        min(each.minimum for each in known),
        max(each.maximum for each in known),
        any(each.truncated for each in known),
    )


def _text(figure: Any) -> str:
    """Return a value for a message of one line."""
    return repr(figure[:40]) if isinstance(figure, str) else str(figure)
