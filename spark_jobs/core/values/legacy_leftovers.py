"""Directories that Lakekeeper 0.0.6 leaves beside the data. They are known by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import unquote

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import Spec, TableName, Unit, name_of, parent

#: `__old_<n>` has the originals, which its backup tables read; `__compact_tmp_<n>` what it writes before its swap.
_LEFTOVER = re.compile(r"(?P<of>.+)__(?P<kind>old|compact_tmp)_\d{10}\Z")


def is_leftover(name: str) -> bool:
    return bool(_LEFTOVER.match(name))


def is_leftover_of(path: str, locations: Collection[str]) -> bool:
    """Tell whether a directory was left by a compaction of one of these units, beside or in its directory."""
    match = _LEFTOVER.match(path)
    return match is not None and (match["of"] in locations or parent(path) in locations)


def is_backup_name(name: str, prefix: str) -> bool:
    """Tell whether a table is named like a backup table of that program.

    Args:
        prefix: the option `backup_prefix`.
    """
    return bool(re.fullmatch(rf"{re.escape(prefix)}_.+_\d{{8}}_\d{{6}}", name))


def check_no_backup(table: str, prefix: str, units: Iterable[Unit]) -> None:
    """Raise Refusal for a backup table of Lakekeeper 0.0.6: what it reads may be the only copy.

    Before its swap, and after one that has failed, such a table reads the directories of the table itself, so that it
    is known by its name only.

    Args:
        prefix: the option `backup_prefix`.
    """
    name = TableName.parse(table)
    if is_backup_name(name.table, prefix):  # guard: legacy_backup_names
        raise Refusal(
            RefusalCode.LEGACY_BACKUP,
            f"{name} is named like a backup table of Lakekeeper 0.0.6, which may read the directories of another table."
            " docs/guides/troubleshooting.md, 'What Lakekeeper 0.0.6 has left', says how to drop it without its files;"
            " if it is none, set another 'backup_prefix'",
        )
    for unit in units:
        if _is_backup(unit.location, unit.spec):
            raise Refusal(
                RefusalCode.LEGACY_BACKUP,
                f"{name} reads {unit.location}, which holds originals of Lakekeeper 0.0.6: they must stay unchanged."
                " docs/guides/troubleshooting.md, 'What Lakekeeper 0.0.6 has left', says how to end them",
            )


def _is_backup(location: str, spec: Spec) -> bool:
    """Tell whether the location of a table's unit is a directory of originals, so that the table is a backup table.

    A partition whose own value ends like such a name is an ordinary partition.
    """
    name = name_of(location)
    key, value = spec[-1] if spec else ("", None)
    ordinary = bool(spec) and unquote(name).casefold() == f"{key}={value}".casefold()
    return _kind(name) == "old" and not ordinary


def check_not_of(unit: Unit, locations: Collection[str]) -> None:
    """Raise Refusal for a partition that is what was left of another one: MSCK REPAIR TABLE adds such a directory.

    Args:
        locations: the locations of all units of the table.
    """
    if is_leftover_of(unit.location, locations):  # guard: leftovers_no_partitions
        raise Refusal(
            RefusalCode.LEGACY_LEFTOVER,
            f"{described([unit.location])}. It is registered as a partition, so that its rows are read under a wrong"
            " value, and twice if they are live too: drop that partition, but not its files",
        )


def described(paths: Sequence[str]) -> str:
    """Return a sentence about leftovers of one unit: what they may hold, and where it is said what ends them."""
    newest, *others = sorted(paths, key=_age, reverse=True)
    if _kind(newest) == "old":
        what = "holds originals of Lakekeeper 0.0.6, and may be the only copy"
    else:
        what = "was written by a compaction of Lakekeeper 0.0.6 that is at work or has died, and may be the only copy"
    more = f" (and {', '.join(others)} of it or of earlier runs)" if others else ""
    return (
        f"{newest} {what}{more}. What to do with it is in docs/guides/troubleshooting.md, 'What Lakekeeper 0.0.6 has"
        " left'; do not use its rollback and cleanup, which delete directories"
    )


def _age(path: str) -> tuple[str, bool]:
    """Sort the leftovers of later runs last. Of one run, the originals were live, and the other one is their copy."""
    return path[-10:], _kind(path) == "old"


def described_all(paths: Sequence[str]) -> str:
    """Return a sentence about leftovers of several units: it names the first unit's, and counts the others."""
    by_unit: dict[str, list[str]] = {}
    for path in paths:
        match = _LEFTOVER.match(path)
        by_unit.setdefault(match["of"] if match else path, []).append(path)
    first, *others = by_unit.values()
    more = f"; {len(others)} other partitions beside it have some too" if others else ""
    return f"{described(first)}{more}"


def _kind(path: str) -> str | None:
    match = _LEFTOVER.match(path)
    return match["kind"] if match else None
