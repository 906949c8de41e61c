"""Groups of a unit's files: the files of one group are written with one schema.

Most units are one group. They have several if a column was widened, since each file must keep its physical types. They
also have several if readers match columns by position: a union of `(id, a)` and `(id, b)` would move `b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spark_jobs.core.formats.footers import Footer, Leaves
from spark_jobs.core.formats.widening import unrelated
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: Each group is a write of its own. More schemas than this were not made by a table's evolution.
MOST_GROUPS = 10
BY_NAME = "set lakekeeper.readers=by-name on the table if all its readers match columns by name"


@dataclass
class _Group:
    """Some files, and the union of their columns: name -> type, and the first file that has it."""

    columns: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: list[Footer] = field(default_factory=list)

    def add(self, footer: Footer) -> None:
        for name, kind in footer.leaves.items():
            self.columns.setdefault(name, (kind, footer.name))
        self.files.append(footer)

    def obstacle(self, footer: Footer, by_position: bool) -> str | None:
        """Return why the file needs another group than this one; None if it does not."""
        first = self.files[0]
        if footer.header != first.header:  # guard: group_of_one_header
            return f"{first.name} and {footer.name} differ in schema or codec"
        for name, kind in footer.leaves.items():
            before, where = self.columns.get(name, (kind, ""))
            if before != kind:  # guard: group_of_one_type
                return f"column '{name}' is {before} in {where} and {kind} in {footer.name}"
        if by_position and not _one_begins_like_other(list(self.columns), list(footer.leaves)):
            return f"{footer.name} and {first.name} have different columns at the same position; {BY_NAME}"
        return None


def _one_begins_like_other(left: Sequence[str], right: Sequence[str]) -> bool:
    return all(one == other for one, other in zip(left, right))  # guard: positions_in_group


@dataclass(frozen=True)
class Groups:
    """The footers of a unit's files, by group. `reason` says why there is a second group."""

    footers: tuple[tuple[Footer, ...], ...]
    reason: str | None = None


def grouped(footers: Sequence[Footer], by_position: bool) -> Groups:
    """Return the groups of a unit's files, each file in the first group whose schema it fits.

    The groups of the files that were written from them are the same, so that there are as many.

    Args:
        by_position: readers may match columns by position. Then the columns of each file of a group are the first
            columns of the group's union.

    Raises:
        Refusal: there are more groups than MOST_GROUPS.
    """
    if _conflict(footers):
        # `footers.profile` refuses such files, and names the types.
        return Groups((tuple(footers),))
    groups, reason = _grouped(footers, by_position)
    if len(groups) > MOST_GROUPS:
        by_type = len(_grouped(footers, False)[0]) > MOST_GROUPS
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT if by_type else RefusalCode.POSITIONAL,
            f"its files have {len(groups)} schemas that do not fit together, more than {MOST_GROUPS}: {reason}",
        )
    return Groups(tuple(tuple(group.files) for group in groups), reason)


def _conflict(footers: Sequence[Footer]) -> bool:
    """Tell whether a column has two types of which neither is the other one, widened."""
    kinds: dict[str, dict[str, None]] = {}
    for leaves in _distinct(footers):
        for name, kind in leaves.items():
            kinds.setdefault(name, {})[kind] = None
    return any(unrelated(list(each)) for each in kinds.values())  # guard: only_widened


def _distinct(footers: Sequence[Footer]) -> list[Leaves]:
    """Return the different schemas; there are few among thousands of files."""
    return list({_key(footer): footer.leaves for footer in footers}.values())


def _key(footer: Footer) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what files of one group have in common; for files with a header only, its schema and codec."""
    return (footer.header, tuple(footer.leaves.items()))


def _grouped(footers: Sequence[Footer], by_position: bool) -> tuple[list[_Group], str | None]:
    groups: list[_Group] = []
    known: dict[tuple[str, tuple[tuple[str, str], ...]], _Group] = {}
    reason = None
    for footer in footers:
        key = _key(footer)
        if key not in known:
            obstacles = [(group, group.obstacle(footer, by_position)) for group in groups]
            fitting = next((group for group, obstacle in obstacles if obstacle is None), None)
            if fitting is None:
                reason = reason or (obstacles[0][1] if obstacles else None)
                fitting = _Group()
                groups.append(fitting)
            known[key] = fitting
        known[key].add(footer)
    return groups, reason
