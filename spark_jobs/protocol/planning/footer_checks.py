"""Checks the flagged units of a table by the footers of their files.

The files of many units are read together: the request for a few files costs more than the reading.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.messages.errors import LakekeeperError, Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.decisions import Irreducible
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import Inputs, UnitPlan
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.layout import group_number
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.commit_log.footer_store import FooterStore
from spark_jobs.protocol.measuring.progress import with_progress
from spark_jobs.protocol.planning.access import in_use, lasts, not_readable
from spark_jobs.protocol.planning.footer_inspection import files_to_rewrite, inspect_parts, parts_of
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")

#: The footers of this many files, or of one unit, are read with one request.
_TOGETHER = 1000
#: A unit with the files that are to be read of it.
_Due = tuple[UnitPlan, Inputs]


def check_footers(
    services: Services, table: TablePlan, basis: str, *, listed_after: datetime | None = None
) -> list[UnitPlan]:
    """Return the units. A unit that cannot be rewritten without a change of its data is refused.

    Args:
        basis: what the verdicts on units are based on.
        listed_after: a time before the units were listed, if their footers are to be kept for the compaction.
    """
    checks = _FooterChecks(services, table, basis, listed_after)
    checks.expire()
    return _checked(
        checks,
        services,
        table,
        [(unit, unit.inputs_to_rewrite) for unit in table.units if unit.inputs_to_rewrite],
    )


def check_grouped_units(services: Services, table: TablePlan, basis: str) -> list[UnitPlan]:
    """Return the units. A flagged unit that cannot have fewer files is healthy.

    Only units of which all files were written for a group are read. They have few files, so this is cheap; the files of
    all other units are not read here.
    """
    due = [
        (unit, unit.inputs_to_rewrite)
        for unit in table.units
        if unit.inputs_to_rewrite
        and _written_for_groups(table.choice(unit.inputs_to_rewrite.files).rewritten)
    ]
    return _checked(_FooterChecks(services, table, basis), services, table, due)


def _written_for_groups(files: FileListing) -> bool:
    return all(group_number(file.name) is not None for file in files.data)


def _checked(
    checks: _FooterChecks, services: Services, table: TablePlan, due: Sequence[_Due]
) -> list[UnitPlan]:
    with services.pool(table.options.parallelism) as pool:
        checked = pool.map(checks.check, _parts(due))
        total = _amount(unit for unit, _ in due)
        parts = list(with_progress(services.clock, "read the footers of", total, checked, _amount))
    by_key = {unit.unit.key: unit for part in parts for unit in part}
    return [by_key.get(unit.unit.key, unit) for unit in table.units]


def _amount(units: Iterable[UnitPlan]) -> Amount:
    """Return how many units and files these are."""
    sizes = [unit.health.files if unit.health else 0 for unit in units]
    return Amount(len(sizes), sum(sizes))


def _parts(due: Sequence[_Due]) -> list[list[_Due]]:
    """Return the units in parts with at most this many files, unless one unit has more."""
    parts: list[list[_Due]] = []
    room = 0
    for unit, inputs in due:
        files = len(inputs.files.files)
        if not parts or files > room:
            parts.append([])
            room = _TOGETHER
        parts[-1].append((unit, inputs))
        room -= files
    return parts


class _FooterChecks:
    """The checks of the units of one table."""

    def __init__(
        self, services: Services, table: TablePlan, basis: str, listed_after: datetime | None = None
    ) -> None:
        self._services = services
        self._table = table
        self._basis = basis
        self._listed_after = listed_after
        self._store = FooterStore(services, table)
        self._encodings: dict[str, Encoding | Refusal] = {}

    def expire(self) -> None:
        """Delete kept footers that are old, if this is an analysis."""
        if self._listed_after:
            self._store.expire(self._table.units)

    def check(self, part: Sequence[_Due]) -> list[UnitPlan]:
        """Return units, refused or healthy by their footers. If one cannot be read, the compaction reports it."""
        try:
            answers = self._read(part)
        except (OSError, LakekeeperError) as error:
            if len(part) > 1:  # One of the units prevents the reading of the others.
                return [unit for each in part for unit in self.check([each])]
            return [self._refused(part[0][0], error)]
        return [self._check(unit, inputs.files, footers) for (unit, inputs), footers in zip(part, answers)]

    def _read(self, part: Sequence[_Due]) -> list[list[list[Footer]]]:
        """Return the footers of each unit: of the files to rewrite, and of the files to copy, if any."""
        parts = [parts_of(self._table, unit.unit.location, inputs.files) for unit, inputs in part]
        directories = [directory for each in parts for directory in each]
        footers = iter(self._services.footers.read(directories, self._table.file_format))
        return [[next(footers) for _ in each] for each in parts]

    def _refused(self, unit: UnitPlan, error: Exception) -> UnitPlan:
        if isinstance(error, Unreadable) and self._in_use(unit, error):
            return unit  # The compaction says so, if it still is.
        if isinstance(error, Refusal):
            return unit.judged(self._basis, error, lasting=lasts(self._table, unit, error))
        if isinstance(error, PermissionError):
            return unit.refused(not_readable(error))
        log.warning("the footers of %s cannot be read: %s", unit.unit, error)
        return unit

    def _in_use(self, unit: UnitPlan, error: Unreadable) -> bool:
        try:
            return in_use(self._services.fs, unit, error)
        except OSError:
            return True

    def _check(self, unit: UnitPlan, files: FileListing, footers: Sequence[Sequence[Footer]]) -> UnitPlan:
        try:
            inspection = inspect_parts(self._encoding, self._table, unit.unit.location, files, footers)
        except (OSError, LakekeeperError) as error:
            return self._refused(unit, error)
        if isinstance(inspection, Irreducible):
            return unit.irreducible(inspection, self._table.options)
        if self._listed_after:
            read = files_to_rewrite(self._table, files)
            self._store.keep(unit.unit.location, read, footers[0], self._listed_after)
            return replace(unit.judged(self._basis), warnings=inspection.unkept)
        return replace(
            unit.judged(self._basis),
            engine=inspection.engines or None,
            engine_reason=inspection.not_arrow,
            warnings=inspection.unkept,
        )

    def _encoding(self, profile: Profile, file_format: str) -> Encoding:
        """Return how files are written. Thousands of units have the same profile, but for rows and figures."""
        key = repr(replace(profile, rows=None, statistics={}, warnings=()))
        if key not in self._encodings:
            self._encodings[key] = self._ask(profile, file_format)
        encoding = self._encodings[key]
        if isinstance(encoding, Refusal):
            # A new one, because each raise adds to the traceback, and so keeps what it refers to.
            raise Refusal(RefusalCode[encoding.code], encoding.reason, encoding.command)
        return encoding

    def _ask(self, profile: Profile, file_format: str) -> Encoding | Refusal:
        try:
            return self._services.rewriter.encoding(profile, file_format)
        except Refusal as refusal:
            return refusal
