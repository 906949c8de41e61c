"""Which retentions a cleanup takes for what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.errors import UsageError
from spark_jobs.core.options import Layers
from spark_jobs.core.retention import check_retention


@pytest.mark.parametrize(
    ("layers", "database"),
    [
        (Layers(), None),
        (Layers({"older_than": "0d"}), None),
        (Layers({"older_than": "0d"}), "sales"),
        (Layers({"keep_last": "1"}), "sales"),
        (Layers(arguments={"keep_last": 1}), "sales"),
        (Layers(settings={"older_than": "24h"}), "sales"),
        (Layers(settings={"older_than": "1h", "allow_short_retention": True}), "sales"),
        (Layers(settings={"allow_short_retention": "true"}, tables={"s.a": {"older_than": "0s"}}), None),
        (Layers(tables={"s.a": {"older_than": "0s", "allow_short_retention": True}}), None),
        (Layers({"older_than": "0d"}, settings={"older_than": "1h"}), None),
    ],
)
def test_what_was_said_counts(layers: Layers, database: str | None) -> None:
    check_retention(layers, database)


@pytest.mark.parametrize(
    ("layers", "database", "expected"),
    [
        (Layers(), "sales", "whole database sales wants a retention"),
        (Layers({"keep_last": "0"}), "sales", "whole database sales wants a retention"),
        (Layers(settings={"keep_last": 0}), "sales", "whole database sales wants a retention"),
        (Layers(tables={"sales.a": {"older_than": "7d"}}), "sales", "whole database sales wants a retention"),
        (Layers(arguments={"older_than": "23h"}), None, "'23h' in the arguments is under 24 hours"),
        (Layers(settings={"older_than": "0d"}), "sales", "'0d' in the configuration is under 24 hours"),
        (
            Layers(tables={"s.a": {"older_than": "60m"}}),
            None,
            "'60m' in the section of table s.a is under 24",
        ),
        (
            Layers(settings={"older_than": "1h", "allow_short_retention": False}),
            None,
            "allow_short_retention: true",
        ),
        (
            Layers({"keep_last": 1}, settings={"older_than": "1h"}),
            None,
            "'1h' in the configuration is under 24 hours",
        ),
    ],
)
def test_what_looks_like_an_accident_is_bad_usage(layers: Any, database: str | None, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        check_retention(layers, database)
