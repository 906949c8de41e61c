"""What must hold before a unit is written, and again in the last moment before its swap."""

from __future__ import annotations

from spark_jobs.core.errors import Deferred, UnitChanged
from spark_jobs.core.formats import has_footer
from spark_jobs.core.journal import Swap
from spark_jobs.core.model import FileListing
from spark_jobs.core.plan import TablePlan
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes
from spark_jobs.protocol.planning.active_writers import ListDirectory, check_writers
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import check_closed, list_unit


class Preconditions:
    """Of the units of one table. Each raises what calls a unit off: UnitChanged, Deferred or Refusal."""

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._services = services
        self._table = table

    def before_write(self, location: str) -> FileListing:
        """Returns the files of the unit."""
        self._deadline()
        files = list_unit(self._services.fs, location, self._table.rules)
        self._closed(location, files)
        return files

    def before_swap(
        self, swap: Swap, new: str, attributes: UnitAttributes | None, listing: ListDirectory
    ) -> None:
        """`clothes` are those that `new` was given; None where an earlier attempt gave it some."""
        self._deadline()
        check_writers(listing, swap.live, self._table.facts.storage.location, self._table.rules)
        try:
            self._attributes(swap, new, attributes)
        except FileNotFoundError:
            raise UnitChanged(f"{swap.live}, or what was written for it, vanished meanwhile") from None
        # A file that was opened again looks as it did until its writer closes it.
        self._closed(swap.live, swap.originals)  # guard: open_files_before_swap

    def _deadline(self) -> None:
        deadline = self._table.options.deadline
        if deadline and self._services.now() >= deadline:
            raise Deferred(f"the deadline {deadline.isoformat()} has passed")

    def _closed(self, location: str, files: FileListing) -> None:
        if not has_footer(self._table.file_format):
            check_closed(self._services.fs, location, files)

    def _attributes(self, swap: Swap, new: str, attributes: UnitAttributes | None) -> None:
        """Who may read the unit is for its owner to say, also while it is compacted. What an earlier attempt has
        written is dressed once more: nobody remembers what it saw."""
        if attributes:
            attributes.check_unchanged(swap.originals)  # guard: attributes_kept
        else:
            found = UnitAttributes.of(self._services.fs, swap.live, swap.originals)
            found.apply_to_files(new, self._table.options.attributes)  # guard: attributes_on_retry
