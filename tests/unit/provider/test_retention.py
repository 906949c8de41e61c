"""Which retentions the cleanup operator takes for what was meant."""

from __future__ import annotations

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import parse_options
from lakekeeper_provider.options.retention import check_retention
from lakekeeper_provider.options.selection import Selection

DATABASE, TABLES = Selection(database="sales"), Selection(tables=("sales.a", "sales.b"))


@pytest.mark.parametrize(
    ("arguments", "settings", "selection"),
    [
        ({"older_than": "7d"}, Config(), DATABASE),
        ({"older_than": "24h"}, Config(), TABLES),
        ({"keep_last": 1}, Config(), TABLES),
        ({"older_than": "0d", "allow_short_retention": True}, Config(), TABLES),
        ({}, Config({"older_than": "2 w"}), DATABASE),
        ({}, Config({"older_than": "1h", "allow_short_retention": True}), DATABASE),
        ({}, Config(tables={"sales.a": {"older_than": "7d"}, "sales.b": {"keep_last": 2}}), TABLES),
        ({}, Config({"keep_last": 2}, {"other.a": {"keep_last": 0}}), DATABASE),
    ],
)
def test_a_retention_may_come_from_the_operator_or_the_file(arguments, settings, selection):
    check_retention(arguments, settings, selection)


@pytest.mark.parametrize(
    ("arguments", "settings", "selection", "expected"),
    [
        ({}, Config(), DATABASE, "needs a retention"),
        ({"keep_last": 0}, Config(), TABLES, "needs a retention"),
        ({}, Config(tables={"sales.a": {"older_than": "7d"}}), TABLES, "needs a retention"),
        ({}, Config(tables={"sales.a": {"older_than": "7d"}}), DATABASE, "needs a retention"),
        (
            {},
            Config({"keep_last": 2}, {"sales.a": {"keep_last": 0}, "other.a": {"keep_last": 0}}),
            DATABASE,
            "needs a retention",
        ),
        ({"older_than": "23h"}, Config(), DATABASE, "'23h' is under 24 hours"),
        ({"older_than": "1440s", "keep_last": 1}, Config(), TABLES, "allow_short_retention=True"),
        ({}, Config({"older_than": "0d"}), TABLES, "'0d' is under 24 hours"),
    ],
)
def test_without_one_or_with_a_short_one_nothing_is_submitted(arguments, settings, selection, expected):
    with pytest.raises(UsageError, match=expected):
        check_retention(arguments, settings, selection)


@pytest.mark.parametrize("rendered", ["", " ", "None", "null"])
@pytest.mark.parametrize("key", ["older_than", "keep_last"])
def test_a_template_that_renders_to_nothing_is_an_error(key, rendered):
    """Before, it was "not given", and the cleanup took all originals."""
    with pytest.raises(
        UsageError, match=f"{key}: expected a value: without one, all originals would be deleted"
    ):
        parse_options({key: rendered})
    assert parse_options({key: None}) == {}


@pytest.mark.parametrize(
    "text", ["older_than:\n", "keep_last: ''\n", "tables:\n  sales.a:\n    older_than:\n"]
)
def test_an_empty_retention_in_the_file_is_an_error(text, tmp_path):
    file = tmp_path / "lakekeeper.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"(older_than|keep_last): expected a value"):
        config.load(file)
