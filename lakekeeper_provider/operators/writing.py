"""Bases of the operators whose jobs change tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import BaseHook, Context, fail_on_usage_error, redact
from lakekeeper_provider.events.refresh import Refresh, refresh
from lakekeeper_provider.operators.base import LakekeeperOperator
from lakekeeper_provider.options.definitions import documented
from lakekeeper_provider.options.parsers import is_template
from lakekeeper_provider.report.report import Report
from lakekeeper_provider.submission import exchange

#: This many tables are refreshed in a later try, whether that try has swapped their files or not.
_TOLD_AGAIN = 100
WRITING_KEYS = ("lease_wait", "lease_timeout", "register_backup", "backup_prefix", "backup_database")


@documented
class WritingOperator(LakekeeperOperator):
    """Base of compaction, rollback and cleanup, which take leases and update backup tables."""

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


class SwappingOperator(WritingOperator):
    """Base of compaction and rollback, which swap files of tables that other engines may have cached.

    Args:
        refresh: the engines to tell of it: a list of ``Refresh``, or of mappings with its fields, such as
            ``[{"conn_id": "impala_default", "engine": "impala"}]``. Also after a failure, because some units may be
            swapped. What an engine cannot be told is a warning with the statement to run by hand; the task does not
            fail

    Raises:
        UsageError: ``refresh`` is wrong
    """

    template_fields: Sequence[str] = (*WritingOperator.template_fields, "refresh")

    def __init__(self, *, refresh: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not is_template(refresh):  # It is checked when it is rendered.
            Refresh.all_of(refresh)
        self.refresh = refresh

    def run_job(self, context: Context) -> Any:
        """Check a rendered ``refresh`` before anything is submitted: later, a mistake would fail a job that is done."""
        with fail_on_usage_error():
            Refresh.all_of(self.refresh)
        return super().run_job(context)

    def follow_up(self, report: Report, uri: str | None, context: Context) -> Report:
        """Tell the engines; warnings go into the report too, if it is kept."""
        again = context["ti"].try_number > 1
        if again and self.refresh and len(report.tables) > _TOLD_AGAIN:
            self.log.warning(
                "if an earlier try has swapped files and died, the engines do not know it: of %s tables, only those"
                " that this try has swapped are refreshed",
                len(report.tables),
            )
        told = refresh(
            Refresh.all_of(self.refresh),
            report,
            lambda conn_id: BaseHook.get_hook(conn_id).run,
            again=again and len(report.tables) <= _TOLD_AGAIN,
            masked=lambda text: str(redact(text)),
        )
        if uri is not None and told.tables != report.tables:
            self._add_warnings(told, uri)
        return told

    def _add_warnings(self, told: Report, uri: str) -> None:
        try:
            exchange.add_warnings(uri, {table["table"]: table["warnings"] for table in told.tables})
        except Exception as error:  # the job is done, and its warnings are in the log and in the XCom
            self.log.warning("the warnings could not be added to the report %s: %s", uri, error)
