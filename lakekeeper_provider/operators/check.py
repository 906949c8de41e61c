"""Compare what compactions keep with what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.definitions import documented
from lakekeeper_provider.options.option import CHECK
from lakekeeper_provider.options.parsers import boolean, given

_KEYS = ("parallelism", "max_calls_per_second")


@documented
class CheckOperator(LakekeeperOperator):
    """Check journals, originals, rewritten files and backup tables without changing anything.

    The XCom has the number of findings of each table and their codes. Damage fails the task without a retry; notices
    do not. The log names the paths, and the commands that end the damage. See ``LakekeeperOperator`` for the other
    arguments.

    Args:
        read_data: compare the rows of originals and rewritten files too; reads all of both
    """

    verb = CHECK
    option_keys: ClassVar[tuple[str, ...]] = (*LakekeeperOperator.option_keys, *_KEYS)
    template_fields: Sequence[str] = (*LakekeeperOperator.template_fields, *_KEYS, "read_data")

    def __init__(
        self,
        *,
        read_data: bool | str | None = None,
        parallelism: int | str | None = None,
        max_calls_per_second: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.read_data = read_data
        self.parallelism = parallelism
        self.max_calls_per_second = max_calls_per_second

    def own_flags(self) -> tuple[str, ...]:
        """Return the flag that rows are compared."""
        read_data = given(self.read_data)
        return ("--read-data",) if read_data is not None and boolean("read_data", read_data) else ()
