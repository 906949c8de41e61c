"""Which properties of a table say how its files are written."""

from __future__ import annotations

import pytest

from spark_jobs.core.formats.footers import Footer, profile
from spark_jobs.core.formats.writer_options import writer_options


def declared(properties: dict[str, str]) -> dict[str, str]:
    return writer_options(profile([Footer("a", 8, {}, {}, {})], None, "orc"), "orc", properties, 1)


@pytest.mark.parametrize(
    "name",
    [
        "parquet.block.size",
        "parquet.enable.dictionary#user.name",
        "parquet.bloom.filter.expected.ndv#id",
        "parquet.compression.codec.zstd.level",
        "parquet.page.row.count.limit",
        "orc.stripe.size",
        "orc.bloom.filter.columns",
        "orc.row.index.stride",
    ],
)
def test_properties_of_the_layout_are_options_of_the_writer(name: str) -> None:
    assert declared({name: "1"}) == {name: "1"}


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
