"""Which properties of a table say how its files are written."""

from __future__ import annotations

import pytest

from spark_jobs.core.formats import layout_properties
from spark_jobs.core.formats.footers import Footer, profile
from spark_jobs.core.formats.writer_options import writer_options


def declared(properties: dict[str, str]) -> dict[str, str]:
    return writer_options(profile([Footer("a", 8, {}, {}, {})], None, "orc"), "orc", properties, 1)


def ignored(properties: dict[str, str]) -> list[str]:
    found = [layout_properties.ignored_properties(name, properties) for name in ("parquet", "orc")]
    return [*found[0], *found[1]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parquet.block.size", "65536"),
        ("parquet.enable.dictionary#user.name", "false"),
        ("parquet.bloom.filter.expected.ndv#id", "1"),
        ("parquet.bloom.filter.fpp", "0.05"),
        ("parquet.compression.codec.zstd.level", "-1"),
        ("parquet.page.row.count.limit", "20000"),
        ("parquet.writer.version", "PARQUET_2_0"),
        ("orc.stripe.size", "65536"),
        ("orc.bloom.filter.columns", "id,user name,été"),
        ("orc.row.index.stride", "0"),
        ("orc.create.index", "TRUE"),
    ],
)
def test_properties_of_the_layout_are_options_of_the_writer(name: str, value: str) -> None:
    assert declared({name: value}) == {name: value}
    assert declared({name: f" {value} "}) == {name: value}
    assert ignored({name: value}) == []


@pytest.mark.parametrize("name", layout_properties._FORMS)
@pytest.mark.parametrize(
    "value", ["${fs.s3a.secret.key}", "1${env.PATH}", "", " ", "a\nb", "x" * 5000 + "${y}"]
)
def test_no_value_with_a_variable_or_without_a_form_is_handed_on(name: str, value: str) -> None:
    assert declared({name: value}) == {}
    (warning,) = ignored({name: value})
    assert name in warning
    assert warning.startswith("LAYOUT_PROPERTY_IGNORED: ")
    assert value.strip() == "" or value not in warning


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parquet.block.size", "0"),
        ("parquet.block.size", "-1"),
        ("parquet.block.size", "128m"),
        ("parquet.block.size", "65537"),
        ("parquet.page.size", "99999999999"),
        ("parquet.page.size", "٣٣٣٣"),
        ("parquet.page.row.count.limit", "1"),
        ("parquet.enable.dictionary", "yes"),
        ("parquet.bloom.filter.fpp", "1"),
        ("parquet.writer.version", "v3"),
        ("orc.row.index.stride", "10"),
        ("orc.block.size", "1000"),
        ("orc.compress.size", "8388608"),
        ("orc.encoding.strategy", "fast"),
    ],
)
def test_a_value_that_its_writer_does_not_take_is_left_out(name: str, value: str) -> None:
    assert declared({name: value}) == {}
    assert [name in warning for warning in ignored({name: value})] == [True]


def test_a_column_with_a_variable_in_its_name_is_no_option() -> None:
    assert declared({"parquet.bloom.filter.enabled#${env.PATH}": "true"}) == {}
    footer = Footer("a", 8, {}, {}, {}, blooms=frozenset({"${env.PATH}", "id"}))
    found = writer_options(profile([footer], None, "parquet"), "parquet", {}, 1)
    assert {name.partition("#")[2] for name in found} == {"id"}


def test_the_size_of_row_groups_is_one_that_hdfs_takes_for_a_block() -> None:
    footer = Footer("a", 8, {}, {}, {}, row_group=(200 << 20) + 1)
    found = writer_options(profile([footer], None, "parquet"), "parquet", {}, 1)
    assert found["parquet.block.size"] == str((200 << 20) + 512)


@pytest.mark.parametrize(
    "name",
    [
        "parquet.private.read.filter.predicate",
        "parquet.read.filter",
        "parquet.crypto.factory.class",
        "parquet.write.support.class",
        "parquet.enable.summary-metadata",
        "parquet.summary.metadata.level",
        "orc.encrypt",
        "orc.key.provider",
        "parquet.block.size.x",
        "orc.compress",
        "owner",
    ],
)
def test_no_others_are(name: str) -> None:
    """Some name classes to load, or hold a serialized object: whoever may alter the table would run code."""
    assert declared({name: "x"}) == {}
