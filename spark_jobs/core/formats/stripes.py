"""What the footer of an ORC file says about a merge of its stripes with stripes of other files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Stripes(NamedTuple):
    """What is needed to merge the stripes of a file, or of several.

    It is a tuple, because it is a part of what files must have in common to share a footer.

    Attributes:
        layout: everything that files must have in common before their stripes can be merged into one file.
        obstacle: why they cannot be merged all the same, as a clause; empty if they can.
        bare_collections: lists and maps have no statistics of their own, as writers before ORC 1.6 left them.
        proleptic: dates and timestamps are in the proleptic Gregorian calendar.
    """

    layout: str
    obstacle: str = ""
    bare_collections: bool = False
    proleptic: bool = False


#: The categories of ORC that have had no statistics of their own before ORC 1.6.
COLLECTIONS = frozenset({"array", "map"})


def by_statistics(
    wanted: Sequence[tuple[str, str]], files: Sequence[Sequence[str]], stripes: int
) -> tuple[str, bool]:
    """Return what the statistics of a file's stripes prevent, and whether lists and maps have none of their own.

    ORC's merge unites statistics, and fails where a column has none of its own type, or a stripe none at all.

    Args:
        wanted: the category of each column, and the class of its statistics.
        files: for each stripe, the classes of the statistics of its columns.
        stripes: the number of stripes.
    """
    if len(files) != stripes or any(
        len(each) != len(wanted) for each in files
    ):  # guard: statistics_of_stripes
        return "lacks statistics of its stripes", False
    missing = {category for each in files for (category, kind), own in zip(wanted, each) if own != kind}
    others = sorted(missing - COLLECTIONS)
    if others:  # guard: statistics_of_each_type
        return f"lacks statistics of its columns of type {', '.join(others)}", False
    return "", bool(missing)


def united(files: Sequence[tuple[str, Stripes | None]]) -> Stripes | None:
    """Return what the stripes of all files are; None in other formats than ORC.

    Args:
        files: the names of files with what their footers say.
    """
    known = [stripes for _, stripes in files if stripes is not None]
    if not known or len(known) != len(files):
        return None
    return known[0]._replace(
        obstacle=_obstacle(files),
        bare_collections=any(each.bare_collections for each in known),
        proleptic=any(each.proleptic for each in known),
    )


def _obstacle(files: Sequence[tuple[str, Stripes | None]]) -> str:
    for name, stripes in files:
        if stripes and stripes.obstacle:  # guard: mergeable_alone
            return f"{name} {stripes.obstacle}"
    layouts = {stripes.layout for _, stripes in files if stripes}
    # guard: one_layout_to_merge
    return "the files differ in schema, compression, metadata or writer" if len(layouts) > 1 else ""
