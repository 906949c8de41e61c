"""Show what was done to tables, and which runs can be rolled back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.option import HISTORY
from lakekeeper_provider.options.parsers import boolean, given, integer


class HistoryOperator(LakekeeperOperator):
    """Show the runs of tables, newest first: what was done when, by whom, and which runs can be rolled back.

    Writes nothing. The XCom has the rows of each table under ``history``, as docs/wire.md describes them; where they
    are too many for an XCom, the older ones are left out. See ``LakekeeperOperator`` for the other arguments.

    Args:
        limit: only the newest rows of each table
        units: also what was done to each partition, under ``results`` of each row
        snapshots: also the snapshots of the commit log, in the log of the task and in the report
    """

    verb = HISTORY
    template_fields: Sequence[str] = (*LakekeeperOperator.template_fields, "limit", "units", "snapshots")
    ui_color = "#eef1e6"

    def __init__(
        self,
        *,
        limit: int | str | None = None,
        units: bool | str | None = None,
        snapshots: bool | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.limit = limit
        self.units = units
        self.snapshots = snapshots

    def has_all_rows(self) -> bool:
        """Tell whether all rows were asked for: only then the gauges count all originals."""
        return given(self.limit) is None

    def own_flags(self) -> tuple[str, ...]:
        """Return the limit, and the flags for what is shown besides the runs."""
        limit = given(self.limit)
        shown = () if limit is None else ("--limit", str(integer(1)("limit", limit)))
        return (*shown, *(f"--{name}" for name in ("units", "snapshots") if self._asks_for(name)))

    def _asks_for(self, name: str) -> bool:
        value = given(getattr(self, name))
        return value is not None and bool(boolean(name, value))
