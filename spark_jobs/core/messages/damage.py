"""The findings of the verb check: their codes, with causes and remedies, and the text for a person.

The codes are stable, because they are in reports and in alert rules of users. The table in docs/wire.md is generated
from this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from spark_jobs.core.messages.printable import printable, printable_lines


class Severity(str, Enum):
    """Damage ends the check with exit code 1; a notice does not."""

    DAMAGE = "damage"
    NOTICE = "notice"

    def __str__(self) -> str:
        return str(self.value)


_DAMAGE, _NOTICE = Severity.DAMAGE, Severity.NOTICE


@unique
class DamageCode(Enum):
    """A code. Its value is the triple (severity, cause, remedy); both texts are Markdown."""

    # Journals and directories of runs.
    JOURNAL_UNREADABLE = (
        _DAMAGE,
        "A journal cannot be decoded, has a gap, names a path that its home does not serve, or belongs to an account"
        " that is not trusted.",
        "Move the run's directory, with all that it holds, out of the table's home; or add the account to"
        " `trusted_owners`.",
    )
    OTHER_VERSION = (
        _DAMAGE,
        "Another version of Lakekeeper has written the home of the table, or a record in it. Nothing else of the table"
        " is checked.",
        "Use that version; or roll back or clean up with it, and remove the home then.",
    )
    JOURNAL_MISSING = (
        _DAMAGE,
        "A run's directory has no journal, but holds more than files that were never live: originals may be in it.",
        "Look at what it holds, then move it out of the table's home.",
    )
    JOURNAL_OF_COPY = (
        _NOTICE,
        "A run's directory came with a copy of the table (distcp, a restored snapshot); its journal is ignored.",
        "Remove the directory.",
    )
    FOLDER_ABANDONED = (
        _NOTICE,
        "A run's directory has no journal, and holds nothing but files that were never live: a job has just begun, or"
        " tasks of a dead driver created it again.",
        "None: the next job deletes it once it is older than `staging_ttl`.",
    )
    RUN_UNFINISHED = (
        _NOTICE,
        "A run is at work right now, or was interrupted; or a cleanup has claimed originals and not deleted them.",
        "The next compaction, rollback or cleanup of the table finishes it.",
    )
    SWAP_UNDECIDED = (
        _DAMAGE,
        "A swap was interrupted, and its directories are in a state that no rule covers; or a writer recreated the"
        " directory during the swap, and `lakekeeper.writers` is not set.",
        "Run `lakekeeper forget` for the run; or set the table property.",
    )
    LEASE_STALE = (
        _NOTICE,
        "A lease was not released, and has not been renewed for a while: its job has died.",
        "The next job takes it over.",
    )
    # Originals.
    ORIGINALS_MISSING = (
        _DAMAGE,
        "The directory of originals that a run holds does not exist.",
        "Restore it from a snapshot, or end its record with `lakekeeper forget`.",
    )
    ORIGINALS_RESTORED = (
        _NOTICE,
        "The directory of originals that a run holds became the live directory again: somebody has moved it back.",
        "End its record with `lakekeeper forget`: until then each cleanup of the table fails.",
    )
    ORIGINALS_CHANGED = (
        _DAMAGE,
        "The directory of originals is another one, or its files differ from those that the journal lists (name, size,"
        " modification time, file id).",
        "Restore the files from a snapshot, or end their record with `lakekeeper forget`.",
    )
    ORIGINALS_FORGOTTEN = (
        _NOTICE,
        "The record of a unit was ended with `lakekeeper forget`, and a directory of it still exists.",
        "Look at the directory, and delete it when nobody needs it.",
    )
    # The live directory.
    LIVE_MISSING = (
        _DAMAGE,
        "The metastore has a unit whose directory does not exist (a notice if no run has ever rewritten it).",
        "Roll the run back; without originals, restore the directory from a snapshot, or drop the partition. Originals"
        " of Lakekeeper 0.0.6 beside it are put back by hand (docs/guides/troubleshooting.md).",
    )
    LIVE_CHANGED = (
        _DAMAGE,
        "The live directory is the one that the last compaction wrote, but files of it are missing or changed.",
        "Move the directory away and roll the run back; or set `lakekeeper.writers=overwrite` if writers replace files"
        " in place.",
    )
    FOOTER_UNREADABLE = (
        _DAMAGE,
        "The footer of a file cannot be read although its size is right: its content is damaged.",
        "Restore originals from a snapshot; roll back a compaction whose files are damaged.",
    )
    ROWS_DIFFER = (
        _DAMAGE,
        "With `--read-data`: the rewritten files have other rows than the originals.",
        "Roll the run back.",
    )
    ROWS_NOT_COMPARED = (
        _NOTICE,
        "With `--read-data`: the unit was written to, compacted again or dropped since; or Spark cannot hash its"
        " values.",
        "None.",
    )
    # What is derived from the journals.
    BACKUP_TABLE_MISSING = (
        _NOTICE,
        "A run holds originals, and its backup table does not exist.",
        "None: a rollback does not need it.",
    )
    BACKUP_TABLE_ELSEWHERE = (
        _DAMAGE,
        "A backup table reads a directory that does not hold the originals of its run.",
        "Drop the backup table; no file is deleted.",
    )
    BACKUP_TABLE_STALE = (
        _NOTICE,
        "A backup table lacks originals of its run, or has some that the run does not hold any more.",
        "Drop the backup table; no file is deleted.",
    )
    LOG_UNREADABLE = (
        _DAMAGE,
        "A file of the commit log is missing or cannot be decoded.",
        "Delete the log: it is derived from the journals.",
    )
    LOG_INCONSISTENT = (
        _DAMAGE,
        "The commit log has other changes of a run than its journal (a notice if it only lacks some, as after a job"
        " that could not write it).",
        "Delete the log: it is derived from the journals. Nothing, if it only lacks changes.",
    )
    NOT_CHECKED = (
        _DAMAGE,
        "A part of the table could not be looked at, because of a permission or an error of the file system, or because"
        " a file is in the place of a directory.",
        "Run the check again with an account that may read it; move the file away.",
    )

    @property
    def severity(self) -> Severity:
        return self.value[0]

    @property
    def cause(self) -> str:
        return self.value[1]

    @property
    def remedy(self) -> str:
        return self.value[2]


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        path: the URI of what is damaged; the name of a backup table.
        command: what ends it; None if nothing has to be done.
        unit: the partition values; None if it is not about a unit.
        only_notice: it is a notice although its code is damage.
    """

    code: DamageCode
    path: str
    message: str
    command: str | None = None
    unit: dict[str, str | None] | None = None
    run_id: str | None = None
    only_notice: bool = False

    @property
    def severity(self) -> Severity:
        return Severity.NOTICE if self.only_notice else self.code.severity

    @property
    def is_damage(self) -> bool:
        return self.severity is Severity.DAMAGE

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code.name,
            "severity": str(self.severity),
            "run_id": self.run_id,
            "unit": self.unit,
            "path": self.path,
            "message": printable(self.message),
            "command": self.command,
        }


def damage(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_damage]


def reason(findings: Iterable[Finding]) -> str | None:
    """Return the codes of the damage with their numbers, as one line; None without damage."""
    codes = Counter(finding.code.name for finding in damage(findings))
    counts = ", ".join(f"{code} ({number})" for code, number in codes.items())
    return (
        f"damage was found: {counts}; `findings` has the paths and the commands that end it"
        if counts
        else None
    )


def render(table: str, findings: Sequence[Finding]) -> str:
    """Return the findings as text, with the damage first."""
    if not findings:
        return f"{table}: no damage"
    ordered = sorted(findings, key=lambda finding: not finding.is_damage)
    counted = f"{len(damage(findings))} of damage, {len(findings) - len(damage(findings))} notices"
    return printable_lines(
        [f"{table}: {counted}", *(line for finding in ordered for line in _lines(finding))]
    )


def _lines(finding: Finding) -> list[str]:
    head = f"  {finding.severity}  {finding.code.name}  {finding.path}"
    command = [f"    command: {finding.command}"] if finding.command else []
    return [head, f"    {finding.message}", *command]
