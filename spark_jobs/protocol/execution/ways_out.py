"""What ends a state that the jobs do not resolve themselves: each reason in a report names the command."""

from __future__ import annotations

from spark_jobs.core.messages.commands import AWAY, hdfs_path, word
from spark_jobs.core.messages.errors import DamagedOriginals, NoRule, OnlyCopy


def with_way_out(reason: str, error: Exception, target: str, run_id: str) -> str:
    """Return the reason, and the command that ends the state.

    Args:
        error: why a unit was left as it is.
        target: the flag that names the table: `--table NAME`, or `--location 'URI'` for a dropped table.
        run_id: the run to which the unit's originals belong.
    """
    which = f"{target} --run-id {word(run_id)}"
    if isinstance(error, (DamagedOriginals, NoRule)):
        forget = f"`lakekeeper forget {which} --yes`"
        return f"{reason}. If this is as it should be, end it with {forget}, which deletes nothing"
    if isinstance(error, OnlyCopy) and target.startswith("--location"):
        return (
            f"{reason}. The table of the run was dropped, but another one reads this directory: drop its partition if"
            " the rows are not needed, or put the originals back as docs/manual-restore.md says"
        )
    if isinstance(error, OnlyCopy):
        return f"{reason}. {restore_command(error, which)}"
    return reason


def restore_command(error: OnlyCopy, which: str) -> str:
    """Return what restores originals although the live directory is missing, or lacks files.

    A rollback does not replace a directory that was changed: what a writer left there may be the table's content. Only
    a person can tell, and says so by moving it away.
    """
    rollback = f"`lakekeeper rollback {which}`"
    if error.statement is not None:
        text = f"To restore them, give the unit its location back ({error.statement}), then {rollback}"
        stays = f". Files in {error.place} are not read any more then: copy what the table needs from there"
        return f"{text}{stays}" if error.in_the_way else text
    if error.in_the_way is None:
        return f"{rollback} restores them"
    move = f"hdfs dfs -mv {hdfs_path(error.in_the_way)} {AWAY}"
    return f"To restore them, move what is there away ({move}), then {rollback}"


def without_trash(user: str, rollback: str | None) -> str:
    """Return what a person does where HDFS cannot make the trash of an account.

    Args:
        rollback: the command that restores what was not deleted; None for a dropped table.
    """
    home = word(f"/user/{user}")
    text = (
        f"If {user} has no trash, make its home as the superuser (hdfs dfs -mkdir -p {home}, then hdfs dfs -chown"
        f" {word(user)} {home}), or use --skip-trash to delete permanently"
    )
    return f"{text}. Until then {rollback} restores the originals" if rollback else text
