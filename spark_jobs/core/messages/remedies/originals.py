"""Originals that are damaged, in use, or the only copy of rows."""

from __future__ import annotations

from spark_jobs.core.messages.remedies import hdfs, verbs

_IN_PLACE = (
    "If writers of this table overwrite it in place, set the table property lakekeeper.writers=overwrite"
)


def forget(target: str, run_id: str) -> str:
    return f"If this is as it should be, end it with `{verbs.forget(target, run_id)}`, which deletes nothing"


def read_by_another_table() -> str:
    return (
        "The table of the run was dropped, but another one reads this directory: drop its partition if the rows are not"
        " needed, or put the originals back as docs/safety/manual-restore.md says"
    )


def restore(target: str, run_id: str, place: str, in_the_way: str | None, statement: str | None) -> str:
    """Return what restores originals although the live directory is missing, or lacks files.

    A rollback does not replace a directory that was changed: what a writer left there may be the table's content. Only
    a person can tell, and says so by moving it away.

    Args:
        place: the location that the metastore has.
        in_the_way: the same, if it exists.
        statement: gives the unit its journaled location back, where it has another one.
    """
    rollback = f"`{verbs.rollback(target, run_id)}`"
    if statement is not None:
        text = f"To restore them, give the unit its location back ({statement}), then {rollback}"
        stays = f". Files in {place} are not read any more then: copy what the table needs from there"
        return f"{text}{stays}" if in_the_way else text
    if in_the_way is None:
        return f"{rollback} restores them"
    return f"To restore them, move what is there away ({hdfs.move_away(in_the_way)}), then {rollback}"


def copy_claimed(claimed: str, place: str, *, exists: bool) -> str:
    """Return the command that gives a table what is left of its originals."""
    return hdfs.copy_content(claimed, place) if exists else hdfs.copy(claimed, place)


def not_originals(place: str, statement: str | None, target: str, run_id: str) -> str:
    """Return how a partition is pointed at another directory than the originals."""
    if statement is None:
        return f"Give the partition at {place} a directory of its own (ALTER TABLE ... SET LOCATION)"
    return (
        f"Give the partition its location back ({statement}); if it should have the originals,"
        f" `{verbs.rollback(target, run_id)}` then restores them"
    )


def empty(place: str, old: str) -> str:
    return (
        f"{place} holds no data any more; the originals in {old} are the only copy, and are kept. Write the data that"
        " the table should hold, or drop the partition"
    )


def only_empty_files(place: str, old: str) -> str:
    return (
        f"{place} holds only empty files; the originals in {old} are the only copy, and are kept. {_IN_PLACE}"
    )


def lost_file(name: str, place: str, old: str) -> str:
    return f"{name}, which the run wrote to {place}, is gone or changed; the originals in {old} are kept. {_IN_PLACE}"


def lost_files(run_id: str, place: str, names: list[str]) -> str:
    return f"{len(names)} files that run {run_id} wrote to {place} are missing or changed ({names[0]}). {_IN_PLACE}"


def overwritten(name: str, live: str, old: str, target: str, run_id: str) -> str:
    return (
        f"{name} in {live} was overwritten, removed or opened again since the compaction; a rollback would restore"
        f" outdated rows. The originals stay in {old}. If they are what the table should hold, move the live directory"
        f" away ({hdfs.move_away(live)}), then `{verbs.rollback(target, run_id)}`"
    )


def of_another_run(live: str, run_id: str, old: str, target: str, replaced_by: str | None) -> str:
    by = replaced_by or "a writer, or a run that has no record any more, replaced it"
    return (
        f"{live} is not the directory that run {run_id} put there: {by}. The originals stay in {old}; if they are not"
        f" needed, `{verbs.cleanup(target)}` deletes them when they are past the retention"
    )


def newer_run(run_id: str, table: str, *, ended: bool) -> str:
    name = f"a newer run, {run_id} of {table},"
    if ended:
        return (
            f"{name} compacted it again, and the originals of that run were deleted: neither is rolled back"
        )
    command = verbs.rollback(verbs.of_table(table), run_id)
    return f"{name} compacted it again; roll that one back first (`{command}`)"


def foreign_directory(directory: str, name: str) -> str:
    return (
        f"{directory} holds the directory {name}, which is not of the originals. Move it away:"
        f" {hdfs.move_away(f'{directory}/{name}')}"
    )
