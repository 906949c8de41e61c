"""The options about the originals: how long they are kept, and what a rollback may do."""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from spark_jobs.core.options.choosing import LONGEST
from spark_jobs.core.options.option import (
    CLEANUP,
    NO_PROPERTY,
    ROLLBACK,
    Level,
    Section,
    choice,
    option,
    switch,
)
from spark_jobs.core.options.parsers import duration, identifier, number
from spark_jobs.core.options.rewriting import RewriteOptions

MOST_RUNS = 1_000_000

_option = partial(option, section=Section.BACKUP)
_choice = partial(choice, section=Section.BACKUP)
_switch = partial(switch, section=Section.BACKUP)


@dataclass(frozen=True)
class BackupOptions(RewriteOptions):
    """Backups, rollback and cleanup."""

    on_new_data: str = _choice(
        "keep",
        ("keep", "refuse"),
        "rows that were added since the compaction: keep them in the table, or refuse to roll back",
        flag="--on-new-data",
        verbs=(ROLLBACK,),
    )
    older_than: timedelta | None = _option(
        None,
        duration("0s", LONGEST),
        "delete only the originals of runs older than this (default: all)",
        flag="--older-than",
        metavar="7d",
        verbs=(CLEANUP,),
        lengthens=True,
        unreadable=timedelta(days=36500),
        level=Level.DAILY,
        note="The cleanup operator needs older_than or keep_last, here or as an argument. A table's property may only"
        " lengthen them.",
        example="7d",
        limits_deletion=True,
    )
    keep_last: int = _option(
        0,
        number(int, 0, MOST_RUNS),
        "never delete the originals of the newest N runs",
        flag="--keep-last",
        metavar="N",
        verbs=(CLEANUP,),
        lengthens=True,
        unreadable=MOST_RUNS,
        level=Level.DAILY,
        example=1,
        limits_deletion=True,
    )
    allow_short_retention: bool = _switch(
        "allow an older_than of less than 24 hours", layers=NO_PROPERTY, level=Level.RARE
    )
    skip_trash: bool = _switch(
        "delete permanently instead of moving to the trash",
        flag="--skip-trash",
        verbs=(CLEANUP,),
        layers=NO_PROPERTY,
    )
    backup_prefix: str = _option(
        "__bkp",
        identifier(64),
        "prefix of the names of backup tables",
        level=Level.RARE,
        note="A backup of mydb.events is named mydb.__bkp_YYYYMMDD_HHMMSS_events.",
    )
    backup_database: str | None = _option(
        None,
        identifier(128),
        "database of the backup tables (default: the table's own)",
        layers=NO_PROPERTY,
        level=Level.RARE,
        note="Set it where row filters are granted on mydb.*: they do not cover the name of a new table.",
        example="lakekeeper_backups",
    )
    register_backup: bool = _switch(
        "register the originals as a backup table", default=True, level=Level.RARE
    )
