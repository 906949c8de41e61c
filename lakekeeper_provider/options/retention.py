"""The retention of a cleanup that nobody watches: one of an operator, or of the tables that a file names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.parsers import seconds
from lakekeeper_provider.options.selection import Selection

DAY = 86_400
_ARGUMENTS = "give older_than, such as 7d (0d and allow_short_retention for all), or keep_last of at least 1"
#: The same from a shell, where a person says `0d` and means it.
FLAGS = "--older-than 7d, or --keep-last 1 (--older-than 0d for all originals)"


def check_retention(
    arguments: Mapping[str, Any], settings: Config, selection: Selection, remedy: str = _ARGUMENTS
) -> None:
    """Check that each table has a retention.

    Args:
        remedy: how one is given

    Raises:
        UsageError: a table has none, or one under 24 hours without ``allow_short_retention``
    """
    for section in _sections(settings, selection):
        given = {**settings.settings, **section, **arguments}
        if "older_than" not in given and not given.get("keep_last"):
            raise UsageError(
                f"cleanup needs a retention, because without one it would delete all originals: {remedy}"
            )
        if "older_than" in given and not given.get("allow_short_retention"):
            _check_short(given["older_than"])


def _sections(settings: Config, selection: Selection) -> list[Mapping[str, Any]]:
    """Return what the file has of single tables: of each that is named, or of those of the database and all others."""
    if selection.database is None:
        return [settings.tables.get(table, {}) for table in selection.tables]
    own = f"{selection.database}."
    return [{}, *(section for name, section in settings.tables.items() if name.startswith(own))]


def _check_short(older_than: str) -> None:
    if seconds(older_than) < DAY:
        raise UsageError(
            f"older_than: {older_than!r} is under 24 hours; to allow that, give the operator"
            " allow_short_retention=True, or write allow_short_retention: true into the configuration file"
        )
