"""Footers of many files as one: it says of the files what their own footers say."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.formats import file_groups, footers
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.leaf_statistics import Bounds, LeafStatistics
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.formats.stripes import Stripes
from spark_jobs.core.messages.errors import Refusal

_LEAVES = ({"id": "int64"}, {"id": "int64", "v": "binary (STRING)"}, {"id": "int32"}, {"t": "int96"})
_WRITERS = (
    {},
    {"org.apache.spark.version": "3.5.9"},
    {"org.apache.spark.version": "2.4.8"},
    {
        "org.apache.spark.version": "3.5.9",
        "org.apache.spark.timeZone": "UTC",
        "org.apache.spark.legacyINT96": "",
    },
)
_FIGURES = st.one_of(
    st.none(),
    st.builds(
        lambda entries, low, high: {"id": LeafStatistics(entries, entries, Bounds(low, low + high), None)},
        st.integers(1, 9),
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
)


@st.composite
def _files(draw: st.DrawFn) -> list[Footer]:
    """Footers of files with different names; each codec has another number of bytes."""
    return [
        Footer(
            f"f{number}",
            draw(st.sampled_from((None, 1, 5))),
            {draw(st.sampled_from(("SNAPPY", "GZIP"))): 2**number},
            draw(st.sampled_from(_LEAVES)),
            draw(st.sampled_from(_WRITERS)),
            schema=draw(st.sampled_from(("", "message"))),
            row_group=draw(st.sampled_from((0, 64, 9 << 20))),
            blooms=draw(st.sampled_from((frozenset(), frozenset({"id"})))),
            stripes=draw(st.sampled_from((None, Stripes("layout"), Stripes("layout", "lacks statistics")))),
            zones=draw(st.sampled_from((frozenset(), frozenset({"UTC"})))),
            statistics=draw(_FIGURES),
        )
        for number in range(draw(st.integers(1, 12)))
    ]


def _said(found: Sequence[Footer]) -> object:
    """What a unit with these footers is refused for, or how it is written: names and profile of each group."""
    try:
        groups = file_groups.grouped(found, by_position=False).footers
        names = [sorted(name for footer in group for name in footer.names) for group in groups]
        return names, [footers.profile(group, None, "parquet") for group in groups]
    except Refusal as refusal:
        return str(refusal)


@given(_files())
def test_merged_footers_lead_to_the_same_groups_profiles_and_refusals(files: list[Footer]) -> None:
    assert _said(merged(files)) == _said(files)


@given(_files(), st.integers(1, 5))
def test_footers_that_were_merged_in_parts_are_those_merged_at_once(files: list[Footer], size: int) -> None:
    parts = [merged(files[start : start + size]) for start in range(0, len(files), size)]
    assert merged(footer for part in parts for footer in part) == merged(files)


@given(_files())
def test_each_file_is_in_one_merged_footer(files: list[Footer]) -> None:
    names = [name for footer in merged(files) for name in footer.names]
    assert sorted(names) == sorted(file.name for file in files)
