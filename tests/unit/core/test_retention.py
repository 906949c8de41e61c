"""Which retentions a cleanup takes for what was meant, and which runs are due by them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.planning.retention import AgedRun, check_retention, expired
from tests.unit.core.faulty_memory_fs import NOW


@pytest.mark.parametrize(
    ("layers", "whole"),
    [
        (Layers(), None),
        (Layers({"older_than": "0d"}), None),
        (Layers({"older_than": "0d"}), "the whole database sales"),
        (Layers({"keep_last": "1"}), "the whole database sales"),
        (Layers(arguments={"keep_last": 1}), "the whole database sales"),
        (Layers(settings={"older_than": "24h"}), "the whole database sales"),
        (Layers(settings={"older_than": "1h", "allow_short_retention": True}), "the whole database sales"),
        (Layers(settings={"allow_short_retention": "true"}, tables={"s.a": {"older_than": "0s"}}), None),
        (Layers(tables={"s.a": {"older_than": "0s", "allow_short_retention": True}}), None),
        (Layers({"older_than": "0d"}, settings={"older_than": "1h"}), None),
    ],
)
def test_what_was_said_counts(layers: Layers, whole: str | None) -> None:
    check_retention(layers, whole)


@pytest.mark.parametrize(
    ("layers", "whole", "expected"),
    [
        (Layers(), "the whole database sales", "whole database sales needs a retention"),
        (Layers({"keep_last": "0"}), "the whole database sales", "whole database sales needs a retention"),
        (
            Layers(settings={"keep_last": 0}),
            "the whole database sales",
            "whole database sales needs a retention",
        ),
        (
            Layers(tables={"sales.a": {"older_than": "7d"}}),
            "the whole database sales",
            "whole database sales needs a retention",
        ),
        (Layers(arguments={"older_than": "23h"}), None, "'23h' in the arguments is under 24 hours"),
        (
            Layers(settings={"older_than": "0d"}),
            "the whole database sales",
            "'0d' in the configuration is under 24 hours",
        ),
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
def test_what_looks_like_an_accident_is_bad_usage(layers: Any, whole: str | None, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        check_retention(layers, whole)


@pytest.mark.parametrize(
    ("layers", "enough"),
    [
        (Layers(tables={"s.a": {"older_than": "7d"}, "s.b": {"keep_last": 1}}), True),
        (Layers(tables={"s.a": {"older_than": "7d"}}), False),
        (Layers({"keep_last": 0}, tables={"s.a": {"keep_last": 1}, "s.b": {"keep_last": 1}}), False),
        (Layers(tables={"s.a": {"keep_last": 0}, "s.b": {"keep_last": 1}}, settings={"keep_last": 2}), False),
    ],
)
def test_the_tables_that_a_file_names_may_have_their_retentions_in_its_sections(
    layers: Layers, enough: bool
) -> None:
    for named in (("s.a", "s.b"), ("S.A", "S.b")):
        if enough:
            check_retention(layers, "the tables that the configuration file names", named)
            continue
        with pytest.raises(UsageError, match="needs a retention"):
            check_retention(layers, "the tables that the configuration file names", named)


def test_a_section_may_not_take_the_retention_of_a_database_away() -> None:
    layers = Layers(tables={"sales.a": {"keep_last": 0}}, settings={"keep_last": 2})
    check_retention(layers, "the whole database other", database="other")
    with pytest.raises(UsageError, match="needs a retention"):
        check_retention(layers, "the whole database Sales", database="Sales")


def test_retention_keeps_the_young_and_the_newest() -> None:
    runs = [AgedRun(f"r{days}", NOW - timedelta(days=days)) for days in (1, 7, 8, 30)]

    def due(older_than: timedelta | None, keep_last: int = 0) -> list[str]:
        return [run.run_id for run in expired(runs, NOW, older_than, keep_last)]

    assert due(timedelta(days=7)) == ["r30", "r8", "r7"]
    assert due(None) == ["r30", "r8", "r7", "r1"]
    assert due(timedelta(days=7), keep_last=3) == ["r30"]
    assert due(None, keep_last=9) == []
