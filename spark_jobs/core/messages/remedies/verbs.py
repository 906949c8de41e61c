"""Commands of Lakekeeper, as a person pastes them.

A *target* is the flag that names a table: `--table NAME`, or `--location 'URI'` for a table that was dropped.
"""

from __future__ import annotations

from spark_jobs.core.messages.commands import quoted, word


def of_table(name: str) -> str:
    """Return the target of a table."""
    return f"--table {word(name)}"


def at_location(uri: str) -> str:
    """Return the target of what a dropped table has left."""
    return f"--location {quoted(uri)}"


def is_dropped(target: str) -> bool:
    return target.startswith("--location")


def rollback(target: str, run_id: str) -> str:
    return f"lakekeeper rollback {target} --run-id {word(run_id)}"


def forget(target: str, run_id: str) -> str:
    return f"lakekeeper forget {target} --run-id {word(run_id)} --yes"


def cleanup(target: str) -> str:
    return f"lakekeeper cleanup {target}"


def recovery(target: str) -> str:
    """Return the command that recovers unfinished runs, and deletes no originals: none is so old."""
    return f"{cleanup(target)} --older-than 36500d"


def check(target: str) -> str:
    return f"lakekeeper check {target}"


def history(target: str) -> str:
    return f"lakekeeper history {target}"
