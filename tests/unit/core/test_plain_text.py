"""Text is told from random bytes by samples, also by small ones."""

from __future__ import annotations

import random
import zlib

import pytest

from spark_jobs.core.formats.magic import codec_extension
from spark_jobs.core.formats.plain_text import SAMPLE, why_not_text, why_not_utf8

TEXT = "id,name\n1,été à Paris\n2,東京\n3,Москва\n".encode() * 40


@pytest.mark.parametrize("size", [64, 200, SAMPLE])
def test_random_bytes_are_not_text(size: int) -> None:
    """Of ten thousand samples, as many as a cluster has small files."""
    chance = random.Random(size)
    for _ in range(10_000):
        sample = chance.randbytes(size)
        assert why_not_text([sample]) or why_not_utf8([sample]), sample


def test_what_a_compressor_leaves_without_its_header_is_not_text() -> None:
    raw = zlib.compressobj(wbits=-15)
    packed = raw.compress(TEXT) + raw.flush()
    assert why_not_text([packed]) or why_not_utf8([packed])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_sample_counts(place: int) -> None:
    samples = [TEXT[:SAMPLE]] * 3
    samples[place] = random.Random(7).randbytes(SAMPLE)
    assert why_not_text(samples)
    assert why_not_utf8(samples)


@pytest.mark.parametrize("start", range(8))
def test_a_sample_may_begin_and_end_within_a_character(start: int) -> None:
    sample = ("東京" * 400).encode()[start:][:SAMPLE]
    assert why_not_text([sample]) is None
    assert why_not_utf8([sample]) is None


def test_another_encoding_is_text_but_not_utf8() -> None:
    sample = "Улица Ленина, дом 7\n".encode("koi8-r") * 20
    assert why_not_text([sample]) is None
    assert why_not_utf8([sample]) == "280 of 400 bytes are not UTF-8"


def test_a_zero_byte_at_the_beginning_is_not_text_and_a_rare_one_is() -> None:
    assert "begins with a zero byte" in str(why_not_text([b"\0" + TEXT[:500]]))
    assert why_not_text([TEXT[:300] + b"\0" + TEXT[:300]]) is None


@pytest.mark.parametrize("name", ["a.lzo", "a.LZO_DEFLATE", "a.csv.gz", ".x.snappy", "a.b.gpg"])
def test_the_extensions_of_codecs_are_known(name: str) -> None:
    assert codec_extension(name) == name[name.rindex(".") :]


@pytest.mark.parametrize(
    "name", ["000000_0", "part-0.txt", "a.csv", "gz", "a.gz.csv", "FlumeData.1700000000"]
)
def test_other_names_are_no_reason(name: str) -> None:
    assert codec_extension(name) is None
