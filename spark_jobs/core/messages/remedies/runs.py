"""Runs that are unfinished, cannot be read, or belong to another table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from spark_jobs.core.messages.remedies import hdfs, verbs


def recovery(table: str) -> str:
    return f"`{verbs.recovery(verbs.of_table(table))}`"


def of_other_table(verb: str, run_id: str, other: str) -> str:
    """Return the command for a run of another table at the same location."""
    command = verbs.forget if verb == "forget" else verbs.rollback
    return f"`{command(verbs.of_table(other), run_id)}`"


def unknown(run_id: str | None, name: str, *, dropped: bool) -> str:
    hint = "" if dropped else f"; `{verbs.history(verbs.of_table(name))}` lists its runs"
    return f"there is no run {run_id} of {name}{hint}"


def not_a_plan(where: str, verb: str, version: str) -> str:
    return f"{where} is not a plan: it has the verb {verb} and schema_version {version}; `lakekeeper plan` writes one"


def swapped_before(run_id: str) -> str:
    return f"What run {run_id} has swapped before stays: see `lakekeeper history`"


def after_journals() -> str:
    return "lakekeeper check, after the findings on journals are ended"


def look_at_journals(target: str) -> str:
    return f"`{verbs.check(target)}` lists what the journals of the table still say"


def dropped_table(verb: str) -> str:
    """Return what can be done for a table that was dropped. A wrong name is the more probable cause."""
    hint = "`lakekeeper cleanup --location URI` deletes the originals that it has left"
    if verb == "rollback":
        hint += "; to roll it back, create it again at its location"
    return (
        ". Check the name, and which metastore the driver's hive-site.xml names. If the table was dropped:"
        f" {hint}"
    )


def of_copy(directory: str, open_units: Sequence[str]) -> str:
    """Return what to do with a run's directory that came with a copy of another directory.

    Args:
        open_units: the originals of units that were copied between the renames of a swap.
    """
    if open_units:
        return (
            "It was copied during a swap, so some rows may be only in its __originals_ directories: if"
            f" {open_units[0]} exists, and the directory of its partition does not, move it to the location of the"
            " partition"
        )
    return f"Remove it: {hdfs.delete(directory)}"


def unreadable(directory: str, originals: Mapping[str, str], unclear: Sequence[str]) -> str:
    """Return what a message says of a run whose journal cannot be read.

    Args:
        originals: by the path of a live directory that is missing, the directory that was live before.
        unclear: directories that may have rows of the table; nothing tells whether the table has these rows.
    """
    if unclear:
        return (
            f"Rows of the table may be only in {_named(unclear)}: before this run is moved out of the table's home,"
            " copy what the table needs from there, as docs/safety/manual-restore.md says"
        )
    command = without_run(directory, originals, unclear)
    if not originals:
        return f"To go on without this run, move its directory, with all that it holds, away: {command}"
    live = next(iter(originals))
    return (
        f"The files of {live}, which is missing, are only in {originals[live]}. To go on without this run, put them"
        f" back, and then move its directory away: {command}"
    )


def without_run(directory: str, originals: Mapping[str, str], unclear: Sequence[str]) -> str:
    """Return the commands after which the jobs work again: put back what only this run has, then move it away."""
    if unclear:
        return f"read docs/safety/manual-restore.md, and copy what the table needs from {_named(unclear)}"
    back = hdfs.put_back((old, live) for live, old in originals.items())
    return " && ".join([*(f"({text})" for text in back), hdfs.move_away(directory)])


def _named(paths: Iterable[str]) -> str:
    return ", ".join(f"'{path}'" for path in paths)
