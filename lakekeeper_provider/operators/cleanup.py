"""Delete the originals that compactions kept, once nobody needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options import CLEANUP

_KEYS = ("older_than", "keep_last", "dry_run", "skip_trash", "parallelism")


class CleanupOperator(LakekeeperOperator):
    """
    Delete kept originals and their backup tables; afterwards those runs cannot be rolled back.

    Only folders that a journal names are deleted. See ``LakekeeperOperator`` for the other arguments.

    :param older_than: only runs older than this, such as ``7d``; without it, all of them
    :param keep_last: keep the newest runs of each table, this many
    :param dry_run: decide and report, delete nothing
    :param skip_trash: delete without the HDFS trash
    :param parallelism: runs worked on side by side (4)
    """

    verb = CLEANUP
    option_keys: ClassVar[tuple[str, ...]] = (*LakekeeperOperator.option_keys, *_KEYS)
    template_fields: Sequence[str] = (*LakekeeperOperator.template_fields, *_KEYS)

    def __init__(
        self,
        *,
        older_than: str | None = None,
        keep_last: int | str | None = None,
        dry_run: bool | str | None = None,
        skip_trash: bool | str | None = None,
        parallelism: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.older_than = older_than
        self.keep_last = keep_last
        self.dry_run = dry_run
        self.skip_trash = skip_trash
        self.parallelism = parallelism
