"""How values become texts, lines of plots and data of a page."""

from __future__ import annotations

import json
import math

import pytest

from lakekeeper_provider.report.html import rendering
from tests.hostile import corpus


@pytest.mark.parametrize("text", [*corpus.TEXTS, "</script><script>", "<!--", "\u2028"], ids=corpus.name_of)
def test_data_of_a_script_is_no_markup(text):
    data = str(rendering.island({"name": text, text: [1.5, None]}))
    assert json.loads(data) == {"name": text, text: [1.5, None]}
    assert not set("<>&\u2028\u2029") & set(data)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (math.nan, "-"), ("7", "-"), (0, "0"), (1234567, "1,234,567"), (0.6, "1")],
)
def test_counts(value, shown):
    assert rendering.count(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(None, "-"), (math.nan, "-"), (3072, "3.0 KB")])
def test_sizes(value, shown):
    assert rendering.size(value) == shown


@pytest.mark.parametrize("value", ["2026-02-24T01:00:00Z", "2026-02-24T02:00:00+01:00", 1771894800])
def test_a_time_is_utc_for_those_without_scripts(value):
    shown = str(rendering.moment(value))
    assert shown == '<time datetime="2026-02-24T01:00:00+00:00">2026-02-24 01:00 UTC</time>'


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "-"), ("<b>", "&lt;b&gt;"), (1e300, "1e+300"), (math.inf, "inf")]
)
def test_what_is_no_time_is_a_text(value, shown):
    assert str(rendering.moment(value)) == shown


def test_a_sparkline_begins_at_zero_and_ends_with_the_last_value():
    assert rendering.spark([10, 5, 0]) == "2.0,2.0 60.0,12.0 118.0,22.0"
    assert rendering.spark([7, 7]) == "2.0,2.0 118.0,2.0"
    assert rendering.spark([1]) == rendering.spark([]) == ""
    assert rendering.spark([0, 0]) == "2.0,22.0 118.0,22.0"


def test_bars_are_as_long_as_the_files_are_many():
    rewritten = {"rewritten": {"files_before": 600, "files_after": 6}}
    flagged = {"flagged_files": 300, "target_files": 3}
    greatest = rendering.most([rewritten, flagged, {}])
    assert rendering.bars(rewritten, greatest) == ("120.0", "1.2")
    assert rendering.bars(flagged, greatest) == ("60.0", "1.0")
    assert rendering.bars({}, greatest) is None
    assert rendering.bars({}, rendering.most([])) is None
