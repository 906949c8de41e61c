"""Files and directories of other writers that are in the way."""

from __future__ import annotations

from spark_jobs.core.messages.remedies import hdfs, verbs


def dead_writer(path: str) -> str:
    """Return what a person may do about a staging directory or file that nobody removes."""
    return f"Wait until it is gone; if its writer has died, delete it: {hdfs.delete(path)}"


def replacing(live: str, staging: str) -> str:
    return (
        f"a writer is replacing {live}, or has died: {staging} exists. Run the rollback again when it is gone; if its"
        f" writer has died, delete it: {hdfs.delete(staging)}"
    )


def directory_with_rows(directory: str, name: str) -> str:
    return (
        f"{directory} holds the directory {name}, whose rows would be lost. Move its files up to {directory}, or move"
        f" it away ({hdfs.move_away(f'{directory}/{name}')}); then run the job again"
    )


def hidden_directory(path: str) -> str:
    return f"it is hidden, so that a query may be writing in it. If none does, move it away: {hdfs.move_away(path)}"


def changed_file(directory: str, name: str, live: str) -> str:
    return (
        f"a writer changed {directory}/{name}; no file of {directory} was moved to {live}. Nothing tells whose rows are"
        f" in it: move it away ({hdfs.move_away(f'{directory}/{name}')}), run the job again, and then put it into the"
        " table under another name if its rows belong there"
    )


def say_how_they_write(target: str, statement: str) -> str:
    """Return how a person says what writers do with a directory that they recreate.

    Args:
        statement: sets the table property.
    """
    if verbs.is_dropped(target):
        return f"Say it: `{verbs.cleanup(target)} --writers append`, or overwrite"
    return f"Set this table property ({statement}, or 'overwrite') and run the job again"


def runs_of_dropped_table(location: str, home: str) -> str:
    return (
        f"{location} holds {home}, with the runs of a table that had partitions here. If that table was dropped,"
        f" `{verbs.cleanup(verbs.at_location(location))}` deletes its originals when they are past the retention, and"
        " then this directory"
    )
