"""A unit between its plan and its swap: ready to be written, and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from spark_jobs.core.formats.encoding import Engine
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.execution.group_writer import WrittenGroup
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.planning.inspection import Inspection


@dataclass(frozen=True)
class UnitDraft:
    """A unit that is ready to be written.

    Attributes:
        before: its files, which are inspected (`inspection`).
        new: the URI of its new directory, which is empty, and closed to other accounts.
        seconds: the time that this took.
        instead_of_arrow: Spark writes it, although Arrow was to.
    """

    plan: UnitPlan
    before: FileListing
    inspection: Inspection
    attributes: UnitAttributes
    new: str
    warnings: tuple[str, ...]
    seconds: float
    instead_of_arrow: bool = False

    def by_spark(self, why: str) -> UnitDraft:
        """Return the draft with Spark as its engine. `why` says why Arrow does not write it."""
        inspection = replace(self.inspection.written_by(Engine.SPARK), not_arrow=why)
        return replace(self, inspection=inspection, instead_of_arrow=True)

    @property
    def written_by(self) -> WrittenBy:
        """Return what writes it."""
        inspection = self.inspection
        return WrittenBy(inspection.by_arrow, inspection.not_arrow, self.instead_of_arrow)


class WrittenBy(NamedTuple):
    """What has written a unit, where the options ask for Arrow.

    Attributes:
        arrow: Arrow has.
        why_not: why it has not.
        instead: Spark has, although the plan was that Arrow does.
    """

    arrow: bool = False
    why_not: str | None = None
    instead: bool = False


BY_SPARK = WrittenBy()


@dataclass(frozen=True)
class WrittenUnit:
    """A unit that is written and verified, and not yet swapped.

    `codec` and `attributes` are None if an earlier attempt has written it. `seconds` is the time that writing took; of
    a joint write it is the unit's share, by its bytes. `strategy` is what was done with large files, and why.
    """

    plan: UnitPlan
    swap: Swap
    codec: str | None = None
    attributes: UnitAttributes | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    strategy: tuple[str, str | None] | None = None
    written_by: WrittenBy = BY_SPARK

    def check_files(self, entries: Sequence[Status]) -> None:
        """Raise UnitChanged if the originals, as they are listed now, have other attributes than their new files."""
        if self.attributes:
            self.attributes.check_files(self.swap.originals, entries)


@dataclass(frozen=True)
class StagedUnit:
    """The files of one unit, before they are moved into its new directory.

    Attributes:
        directory: the URI of the directory that holds them.
        files: as they were listed before their footers were compared with the originals'.
        named: the same with the names that they will have, in the same order.
        seconds: the unit's share of the time, by its bytes.
    """

    directory: str
    files: FileListing
    named: FileListing
    written: WrittenGroup
    seconds: float

    def check(self, new: str, moved: FileListing) -> list[str]:
        """Raise VerificationFailed if the new directory holds other data than the files that were compared.

        Return no warnings: the figures of all columns were compared already.
        """
        if moved.data != self.named.data:  # guard: joint_files_only
            changes = self.named.diff(moved)
            raise VerificationFailed(f"{new} does not hold the files that were compared: {changes}")
        return []
