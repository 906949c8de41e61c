"""The swap of one unit, as the journal has it: directories, identities, files and rows before the renames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spark_jobs.core.values.model import FileListing, Spec, Unit


@dataclass(frozen=True)
class Swap:
    """The intent of one unit's swap, as it is in PREPARED: the directories before the renames R1 and R2.

    The paths `new`, `old`, `aside` and `conflict` are relative to the run's directory.

    Attributes:
        live: the URI of the live directory.
        new: the path of the rewritten directory before the swap.
        old: the path of the originals after the swap.
        aside: the path for a directory that must be moved away from the live path again.
        conflict: the path for a directory that a writer has created at the live path meanwhile.
        live_id: the identity of the originals.
        new_id: the identity of the rewritten directory.
        originals: the files of the originals.
        compacted: the files of the rewritten directory.
        rows: the number of rows.
    """

    spec: Spec
    live: str
    new: str
    old: str
    aside: str
    conflict: str
    live_id: str
    new_id: str
    originals: FileListing
    compacted: FileListing
    rows: int

    @property
    def unit(self) -> Unit:
        return Unit(self.spec, self.live)

    def as_found(self, body: Mapping[str, Any]) -> Swap:
        """Return the swap with the originals that were found, as a later record has them.

        They may be more files than were prepared, if late files could not be moved into the table. They may be another
        directory, if a writer replaced the live directory before the first rename.
        """
        fields: dict[str, Any] = {key: body[key] for key in ("originals", "live_id") if key in body}
        if "originals" in fields:
            fields["originals"] = FileListing.from_json(fields["originals"])
        return replace(self, **fields)

    def to_json(self) -> dict[str, Any]:
        body = {**self.__dict__, "spec": [list(pair) for pair in self.spec]}
        return {**body, "originals": self.originals.to_json(), "compacted": self.compacted.to_json()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Swap:
        """Decode a swap. Raise KeyError, TypeError or ValueError for any other content."""
        texts = ("live", "new", "old", "aside", "conflict", "live_id", "new_id")
        if not all(isinstance(body[name], str) for name in texts) or not isinstance(body["rows"], int):
            raise TypeError(f"one of {', '.join(texts)} is not a string, or 'rows' is not a whole number")
        return cls(
            **{
                **body,
                "spec": tuple((key, value) for key, value in body["spec"]),
                "originals": FileListing.from_json(body["originals"]),
                "compacted": FileListing.from_json(body["compacted"]),
            }
        )
