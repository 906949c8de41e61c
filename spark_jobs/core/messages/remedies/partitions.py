"""Partitions that were moved, renamed or dropped since a run."""

from __future__ import annotations

from spark_jobs.core.messages.remedies import hdfs, verbs


def add_again(statement: str, live: str, *, missing: bool) -> str:
    """Return what adds a partition again where it was.

    The metastore creates a directory that is missing, and a rollback replaces none that its run has not written.
    """
    return f"{statement}; {hdfs.delete_empty(live)}" if missing else statement


def rows_only_in_originals(old: str, add: str, target: str, run_id: str) -> str:
    return (
        f"only the originals in {old} have its rows. To get them back, add it again ({add}), then"
        f" `{verbs.rollback(target, run_id)}`. If it was dropped on purpose, `{verbs.cleanup(target)}` deletes them"
        " when they are past the retention"
    )


def renamed(place: str, target: str, run_id: str) -> str:
    return (
        f"Its directory is {place} now, which another partition reads: to roll it back, rename that partition and its"
        f" directory back first, and then `{verbs.rollback(target, run_id)}`. {keep(target)}"
    )


def give_back(statement: str, place: str | None, target: str, run_id: str) -> str:
    stays = f" (files in {place} stay there)" if place else ""
    rollback = f"`{verbs.rollback(target, run_id)}`"
    return f"To roll it back, give it that location again ({statement}), then {rollback}{stays}"


def keep(target: str) -> str:
    return f"If it stays so, `{verbs.cleanup(target)}` deletes its originals when they are past the retention"


def dropped(live: str, add: str, found_by: str, lost: str) -> str:
    return (
        f"the metastore has no such partition any more, and its files are in {live}. To get it back, add it again"
        f" ({add}); {found_by}. {lost}. If it was dropped on purpose, and its files are not needed: {hdfs.delete(live)}"
    )


def elsewhere(place: str, live: str, statement: str | None, lost: str) -> str:
    return (
        f"the metastore has this partition at {place} now, and the files that the run has worked on are in {live}."
        f" Unless that is intended, give it that location again ({statement}). {lost}"
    )


def reads_home(name: str, place: str, home: str, statement: str) -> str:
    return (
        f"{name} reads {place}, which is in {home}: move its files out of that directory and set its location to where"
        f" they are ({statement}), or drop that table or partition"
    )


def of_copy(location: str, old: str) -> str:
    return (
        f"{location} is missing, and {old}, which came here with a copy, has its files. If they are the files of this"
        f" unit, move them there: {hdfs.move(old, location)}"
    )
