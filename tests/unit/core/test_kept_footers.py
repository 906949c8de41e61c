"""What is kept of footers is read back as it was, and all else is of the files as they are now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.leaf_statistics import Bounds, LeafStatistics
from spark_jobs.core.formats.stripes import Stripes
from spark_jobs.core.planning import kept_footers
from spark_jobs.core.planning.kept_footers import KeptFooters, decode, encode
from spark_jobs.core.records.snapshots import BrokenLog, packed, unpacked
from spark_jobs.core.values.model import FileEntry, FileListing

_LOCATION = "hdfs://nn/t"
_NOW = 1_000_000_000
HOUR = 3_600_000
_BOUNDS = st.one_of(
    *(
        st.builds(Bounds, each, each, truncated)
        for each, truncated in (
            (st.integers(), st.just(False)),
            (st.floats(allow_nan=False), st.just(False)),
            (st.decimals(allow_nan=False, allow_infinity=False), st.just(False)),
            (st.one_of(st.text(), st.just("\ud800")), st.booleans()),
        )
    )
)
_COUNT = st.one_of(st.none(), st.integers(-(2**70), 2**70))
_LEAF = st.builds(LeafStatistics, _COUNT, _COUNT, st.one_of(st.none(), _BOUNDS), _COUNT)
_FIGURES = st.fixed_dictionaries(
    {
        "rows": st.one_of(st.none(), st.integers(0, 2**40)),
        "codecs": st.dictionaries(st.sampled_from(("SNAPPY", "GZIP")), st.integers(0, 2**40)),
        "row_group": st.integers(0, 2**30),
        "statistics": st.one_of(st.none(), st.dictionaries(st.text(max_size=5), _LEAF, max_size=4)),
    }
)


def _listing(*names: str, mtime: int = 0, file_id: int | None = None) -> FileListing:
    return FileListing.of(FileEntry(name, 10, mtime, file_id) for name in names)


def _kept(listing: FileListing, *footers: Footer) -> KeptFooters | None:
    return KeptFooters.of(_LOCATION, listing, footers, "3.5", _NOW)


def _certain(listing: FileListing, *footers: Footer) -> KeptFooters:
    found = _kept(listing, *footers)
    assert found is not None
    return found


def _footer(name: str = "a", **more: object) -> Footer:
    return replace(Footer(name, 5, {"SNAPPY": 9}, {"id": "int64"}, {}, schema="message"), **more)


@pytest.fixture(autouse=True)
def footers_of_few_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 2)


@given(st.lists(_FIGURES, min_size=1, max_size=3))
def test_with_one_file_of_each_kind_the_footers_are_those_that_were_read(figures: Sequence[dict]) -> None:
    read = [
        _footer(f"f{number}", schema=f"message {number}", others=(f"g{number}",), **each)
        for number, each in enumerate(figures)
    ]
    listing = _listing(*(name for footer in read for name in footer.names))
    kept = _certain(listing, *read)
    again = decode(encode(kept), "file")
    assert [file.name for file in again.samples(listing).files] == [footer.name for footer in read]
    samples = [replace(footer, rows=None if footer.rows is None else 1, others=()) for footer in read]
    found = again.confirmed(samples)
    assert found == read
    # A bound of another type would compare equal, and render otherwise in a message.
    assert repr([f.statistics for f in found or ()]) == repr([f.statistics for f in read])


@pytest.mark.parametrize(("files", "first"), [(500, 1), (0, 0), (3, 0), (None, None)])
def test_the_files_of_text_without_a_last_line_feed_are_those_of_all(
    files: int | None, first: int | None
) -> None:
    """Else their bytes were counted by the first file, and a unit with many files would be written twice."""
    read = _footer(others=("b",), rows=None, statistics=None, unended=files)
    kept = decode(encode(_certain(_listing("a", "b"), read)), "file")
    assert kept.confirmed([replace(read, others=(), unended=first)]) == [read]


@pytest.mark.parametrize("value", [math.inf, -math.inf, -0.0, 0.1, Decimal("1.10"), True, 2**63])
def test_bounds_keep_type_and_value(value: object) -> None:
    statistics = {"id": LeafStatistics(1, 1, Bounds(value, value))}
    kept = _certain(_listing("a", "b"), _footer(others=("b",), statistics=statistics))
    assert repr(decode(encode(kept), "file").footers[0].statistics) == repr(statistics)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "message of another column"},
        {"struct": "read with other settings"},
        {"problem": "not read by this version"},
        {"created_by": "another writer"},
        {"writer": {"org.apache.spark.timeZone": "UTC"}},
        {"leaves": {"id": "int32"}},
        {"blooms": frozenset({"id"})},
        {"stripes": Stripes("other layout")},
        {"zones": frozenset({"UTC", "Asia/Tokyo"})},
        {"metadata": {"key": "value"}},
        {"rows": None},
        {"statistics": {}},
        {"name": "b"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_file_that_is_of_another_kind_now_refutes_what_was_kept(change: dict[str, object]) -> None:
    kept = _certain(_listing("a", "b"), _footer(others=("b",)))
    assert kept.confirmed([replace(_footer(), **change)]) is None


def test_sets_have_one_hash_whatever_their_order() -> None:
    zones = [f"zone{number}" for number in range(40)]
    kept = _certain(_listing("a", "b"), _footer(others=("b",), zones=frozenset(zones)))
    assert kept.confirmed([_footer(zones=frozenset(reversed(zones)))]) is not None


def test_what_is_not_worth_it_or_not_safe_is_not_kept() -> None:
    both = _footer(others=("b",))
    assert _kept(_listing("a"), _footer()) is None
    kinds = [_footer(f"f{number}", schema=f"message {number}") for number in range(11)]
    assert _kept(_listing(*(each.name for each in kinds)), *kinds) is None
    assert _kept(_listing("a", "b", mtime=_NOW - HOUR), both) is None
    assert _kept(_listing("a", "b", mtime=_NOW + 5), both) is None
    assert _kept(_listing("a", "b", mtime=_NOW - HOUR - 1), both) is not None
    assert _kept(_listing("a", "b", mtime=_NOW, file_id=7), both) is not None


def test_a_bound_of_an_unknown_type_is_an_error() -> None:
    figures = {"id": LeafStatistics(1, 1, Bounds(b"a", b"b"))}
    with pytest.raises(TypeError, match="bytes"):
        encode(_certain(_listing("a", "b"), _footer(others=("b",), statistics=figures)))


@pytest.mark.parametrize("part", ["location", "files", "environment", "kinds"])
def test_content_without_a_part_is_broken(part: str) -> None:
    body = unpacked(encode(_certain(_listing("a", "b"), _footer(others=("b",)))), "file")
    del body[part]
    with pytest.raises(BrokenLog):
        decode(packed(body), "file")


@pytest.mark.parametrize(
    "change",
    [
        {"rows": "7"},
        {"rows": True},
        {"codecs": {"SNAPPY": "many"}},
        {"others": (None,)},
        {"row_group": "x"},
        {"statistics": {"id": LeafStatistics("1", 1)}},
        {"statistics": {"id": LeafStatistics(1, 1, Bounds(1, "9"))}},
        {"statistics": {"id": LeafStatistics(1, 1, Bounds(1, 9, True))}},
        {"statistics": {"id": LeafStatistics(1, 1, Bounds("1", "9", 1))}},
    ],
    ids=str,
)
def test_content_of_other_types_is_broken(change: dict) -> None:
    kept = _certain(_listing("a", "b"), _footer(others=("b",)))
    with pytest.raises(BrokenLog):
        decode(encode(replace(kept, footers=[replace(kept.footers[0], **change)])), "file")


def test_a_bound_that_is_no_number_is_broken() -> None:
    figures = {"id": LeafStatistics(1, 1, Bounds(Decimal(1), Decimal(2)))}
    body = unpacked(encode(_certain(_listing("a", "b"), _footer(others=("b",), statistics=figures))), "file")
    body["kinds"][0][1]["leaves"]["id"][2][0] = {"decimal": "none"}
    with pytest.raises(BrokenLog):
        decode(packed(body), "file")


def test_content_is_small() -> None:
    """A name costs a few bytes: the files of one job differ in a number."""
    names = [f"part-{number:05}-2b3c4d5e-0000.snappy.parquet" for number in range(5000)]
    kept = _certain(_listing(*names), _footer(names[0], others=tuple(names[1:])))
    assert len(encode(kept)) < 5000 * 10
