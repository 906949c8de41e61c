"""Delete the originals that compactions kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lakekeeper_provider.compat import Context
from lakekeeper_provider.operators.writing import WritingOperator
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import documented
from lakekeeper_provider.options.option import CLEANUP
from lakekeeper_provider.options.retention import check_retention
from lakekeeper_provider.submission.submission import Submission

_KEYS = (
    "older_than",
    "keep_last",
    "allow_short_retention",
    "dry_run",
    "skip_trash",
    "native_expiry",
    "parallelism",
    "max_calls_per_second",
)


@documented
class CleanupOperator(WritingOperator):
    """Delete kept originals and their backup tables; the runs cannot be rolled back after that.

    Only directories that a journal names are deleted. See ``WritingOperator`` and ``LakekeeperOperator`` for the other
    arguments.

    A retention is required, as an argument or in the YAML file: ``older_than``, or ``keep_last`` of at least 1.
    """

    verb = CLEANUP
    option_keys: ClassVar[tuple[str, ...]] = (*WritingOperator.option_keys, *_KEYS)
    template_fields: Sequence[str] = (*WritingOperator.template_fields, *_KEYS)

    def __init__(
        self,
        *,
        older_than: str | None = None,
        keep_last: int | str | None = None,
        allow_short_retention: bool | str | None = None,
        dry_run: bool | str | None = None,
        skip_trash: bool | str | None = None,
        native_expiry: bool | str | None = None,
        parallelism: int | str | None = None,
        max_calls_per_second: int | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.older_than = older_than
        self.keep_last = keep_last
        self.allow_short_retention = allow_short_retention
        self.dry_run = dry_run  # type: ignore[assignment, method-assign]  # the option has the name of a method
        self.skip_trash = skip_trash
        self.native_expiry = native_expiry
        self.parallelism = parallelism
        self.max_calls_per_second = max_calls_per_second

    def prepare(
        self, settings: Config, deadline: str | None, context: Context
    ) -> Submission | dict[str, Any]:
        """Return what to submit.

        Raises:
            UsageError: the retention is missing, or too short to be accepted without confirmation
        """
        submission = super().prepare(settings, deadline, context)
        check_retention(self.arguments(), settings, self.selection())
        return submission

    def told(self, settings: Config) -> dict[str, Any]:
        """Return what the events say of this job: the retention tells until when originals are kept."""
        given = {**settings.settings, **self.arguments()}
        retention = {key: given.get(key) for key in ("older_than", "keep_last")}
        # One that deletes nothing does not tell how long originals are kept.
        return {"whole": False, **({} if given.get("dry_run") else retention)}
