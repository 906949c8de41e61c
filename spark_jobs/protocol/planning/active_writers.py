"""The check for other writers in the directories above a unit."""

from __future__ import annotations

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies.writers import dead_writer
from spark_jobs.core.rules import eligibility
from spark_jobs.core.values import legacy_leftovers
from spark_jobs.core.values.layout import ancestors
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.core.values.other_writers import WriterRules, moment
from spark_jobs.protocol.listed_directories import Directories


def check_writers(directories: Directories, location: str, root: str, rules: WriterRules) -> None:
    """Raise Refusal for staging of a writer, or leftovers of another tool, in a directory above the unit.

    The directories up to the table's root are checked. Staging that was not changed for `staging_ttl` belongs to a
    writer that has died. Staging beside a table without partitions is not part of the table.
    """
    for directory in ancestors(location, root):
        if location != root and directory != root:  # guard: table_format_marks_between
            eligibility.check_marks(directories(directory).names, directory)
        for entry in directories(directory).suspects(name_of(location), rules):
            staging = rules.is_staging(entry.name, entry.is_dir) and location != root
            if staging and rules.may_be_active(entry.path, entry.mtime):  # guard: staging_above_unit
                raise Refusal(
                    RefusalCode.ACTIVE_WRITER,
                    f"{entry.path} belongs to a writer that has not finished: it was changed {moment(entry.mtime)}"
                    f" (after 'staging_ttl' it counts as abandoned). {dead_writer(entry.path)}",
                )
            if location != root and not entry.is_dir:
                rules.check_summary(entry.path, entry.name)  # guard: summaries_above_unit
    check_leftovers(directories, location, rules)


def check_leftovers(directories: Directories, location: str, rules: WriterRules) -> None:
    """Raise Refusal for what Lakekeeper 0.0.6 has left beside the unit; of a missing one it may be the only copy.

    Raises:
        FileNotFoundError: the directory above the unit is missing too.
    """
    leftovers = [
        entry.path
        for entry in directories(parent(location)).suspects(name_of(location), rules)
        if legacy_leftovers.is_leftover_of(entry.path, [location])
    ]
    if leftovers:
        raise Refusal(RefusalCode.LEGACY_LEFTOVER, legacy_leftovers.described(leftovers))
