"""Base of the operators whose jobs change tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.operators.base import LakekeeperOperator

WRITING_KEYS = ("lease_wait", "lease_timeout", "register_backup", "backup_prefix", "backup_database")


class WritingOperator(LakekeeperOperator):
    """
    Base of compaction, rollback and cleanup, which take leases and update backup tables.

    :param lease_wait: how long to wait for another job on the same table, such as ``10m`` (``60s``)
    :param lease_timeout: time without a heartbeat after which another job takes a lease over (``20s``)
    :param register_backup: register the originals of a run as a backup table (true)
    :param backup_prefix: prefix of the names of backup tables (``__bkp``)
    :param backup_database: database of the backup tables (by default the table's own)
    """

    option_keys: ClassVar[tuple[str, ...]] = (*LakekeeperOperator.option_keys, *WRITING_KEYS)
    template_fields: Sequence[str] = (*LakekeeperOperator.template_fields, *WRITING_KEYS)

    def __init__(
        self,
        *,
        lease_wait: str | None = None,
        lease_timeout: str | None = None,
        register_backup: bool | str | None = None,
        backup_prefix: str | None = None,
        backup_database: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.lease_wait = lease_wait
        self.lease_timeout = lease_timeout
        self.register_backup = register_backup
        self.backup_prefix = backup_prefix
        self.backup_database = backup_database
