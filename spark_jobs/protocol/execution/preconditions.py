"""The conditions that must be true before a unit is written, and again directly before its swap."""

from __future__ import annotations

from spark_jobs.core.formats.registry import has_footer
from spark_jobs.core.messages.errors import UnitChanged
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.due import FileFigures, too_young
from spark_jobs.core.values.file_times import future_from
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes
from spark_jobs.protocol.planning.access import check_no_link, reading
from spark_jobs.protocol.planning.active_writers import check_writers
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import UnitListing, check_closed, listed_unit


class Preconditions:
    """The checks of the units of one table.

    Each check raises UnitChanged or Refusal to call a unit off.
    """

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._services = services
        self._table = table

    def before_write(self, location: str) -> UnitListing:
        """Return the listing of the unit, after checking that it may be written."""
        with reading():
            listed = listed_unit(self._services.fs, location, self._table.rules)
        self._check_closed(location, listed.files)
        self._check_idle(listed.files)
        return listed

    def before_swap(
        self, swap: Swap, new: str, attributes: UnitAttributes | None, directories: Directories
    ) -> None:
        """Check that the unit may be swapped, as far as no listing of it is needed: the swap itself lists it.

        Args:
            new: the URI of the rewritten directory.
            attributes: the attributes that were set on `new`, or None if an earlier attempt set them.
            directories: lists the directories above the unit.
        """
        check_writers(directories, swap.live, self._table.facts.storage.location, self._table.rules)
        # A directory that was moved, with a link in its place, has the same identity and files as before.
        check_no_link(directories, swap.live)  # guard: no_link_before_swap
        try:
            self._check_attributes(swap, new, attributes)
        except FileNotFoundError:
            raise UnitChanged(
                f"{swap.live}, or its rewritten directory {new}, was removed before the swap"
            ) from None
        # A file that was opened again looks unchanged until its writer closes it, so that HDFS is asked again.
        self._check_closed(swap.live, swap.originals)  # guard: open_files_before_swap

    def _check_idle(self, files: FileListing) -> None:
        """Raise UnitChanged if a file was added since the plan, so that the unit is too young now."""
        options, now = self._table.options, self._services.now()
        future = self._table.rules.future_from or future_from(now)
        newest = FileFigures.of(files, options.thresholds().small_file, future).newest
        young = too_young(newest, options.idle_for, now)
        if young:
            raise UnitChanged(f"since it was planned, a file was added: {young}")

    def _check_closed(self, location: str, files: FileListing) -> None:
        if not has_footer(self._table.file_format):
            check_closed(self._services.fs, location, files)

    def _check_attributes(self, swap: Swap, new: str, attributes: UnitAttributes | None) -> None:
        """Check that the attributes of the unit's directory have not changed since it was read.

        The owner of the unit decides who may read it, also while it is compacted.

        On a directory that an earlier attempt has written, the attributes are set again, because the attributes that it
        saw are not recorded.
        """
        if attributes:
            attributes.check_directory()  # guard: attributes_kept
        else:
            live = UnitAttributes.of(self._services.fs, swap.live, swap.originals)
            live.apply_to_files(new, self._table.options.attributes)  # guard: attributes_on_retry
