"""How much a job may still read, and how much a table may keep of originals."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_jobs.core.messages.amounts import human
from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.values.amount import Amount


@dataclass(frozen=True)
class Limit:
    """A limit of one quantity, and how much of it is used."""

    option: str
    limit: int
    used: int = 0
    in_bytes: bool = False

    def lacks(self, amount: int) -> str | None:
        """Return why `amount` is too much; None if it fits, or if there is no limit."""
        if not self.limit or self.used + amount <= self.limit:
            return None
        show = human if self.in_bytes else str
        left = f"{show(max(0, self.limit - self.used))} of {show(self.limit)} are left"
        alone = ": the unit alone is more than that" if amount > self.limit else ""
        return f"{self.option}: it needs {show(amount)}, and {left}{alone}"

    def plus(self, amount: int) -> Limit:
        return replace(self, used=self.used + amount)


@dataclass(frozen=True)
class Budget:
    """The limits of one job, which count what it reads, and the limit of the originals that one table keeps."""

    bytes: Limit = Limit("max_bytes", 0)
    files: Limit = Limit("max_files", 0)
    units: Limit = Limit("max_units", 0)
    held: Limit = Limit("max_held_bytes", 0)

    @classmethod
    def of(cls, options: LimitOptions) -> Budget:
        """Return the budget of a job that begins."""
        return cls(
            Limit("max_bytes", options.max_bytes, in_bytes=True),
            Limit("max_files", options.max_files),
            Limit("max_units", options.max_units),
        )

    def of_table(self, max_held_bytes: int, held_bytes: int) -> Budget:
        """Return the budget for a table that keeps originals of `held_bytes` already."""
        return replace(self, held=Limit("max_held_bytes", max_held_bytes, held_bytes, in_bytes=True))

    def lacks(self, amount: Amount) -> str | None:
        """Return why a unit does not fit; None if it does."""
        limits = (
            self.units.lacks(amount.units),
            self.bytes.lacks(amount.bytes),
            self.files.lacks(amount.files),
            self.held.lacks(amount.bytes),
        )
        return next((text for text in limits if text), None)

    def spend(self, amount: Amount) -> Budget:
        """Return what is left after a unit was compacted."""
        return Budget(
            self.bytes.plus(amount.bytes),
            self.files.plus(amount.files),
            self.units.plus(amount.units),
            self.held.plus(amount.bytes),
        )
