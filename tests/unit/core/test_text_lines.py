"""Which text tables can be compacted line by line."""

from __future__ import annotations

import pytest

from spark_jobs.core.formats.text_lines import check_lines
from spark_jobs.core.messages.errors import Refusal


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ({"serialization.encoding": "UTF-16"}, "serialization.encoding='UTF-16'"),
        ({"line.delim": "|"}, "line.delim='|'"),
        ({"textinputformat.record.delimiter": "\x01"}, r"textinputformat.record.delimiter='\\x01'"),
    ],
)
def test_a_refusal_names_the_property_that_it_is_about(properties: dict[str, str], named: str) -> None:
    with pytest.raises(Refusal, match=r"db\.t") as refusal:
        check_lines([{"line.delim": "\n"}, properties], "db.t")
    assert refusal.value.code == "ENCODING"
    assert named.replace(r"\\", "\\") in refusal.value.reason
    assert refusal.value.reason.count("=") == 1


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"line.delim": "10"},
        {"serialization.encoding": "iso-8859-1"},
        {"textinputformat.record.delimiter": "\n"},
        {"skip.header.line.count": "0"},
    ],
)
def test_lines_that_end_at_line_feeds_are_accepted(properties: dict[str, str]) -> None:
    check_lines([properties], "db.t")


@pytest.mark.parametrize("key", ["io.compression.codecs", "io.compress.passthrough.extension"])
def test_codecs_of_the_table_are_refused(key: str) -> None:
    with pytest.raises(Refusal, match=rf"db\.t names codecs of its own \({key}=x\)") as refusal:
        check_lines([{}, {key: "x"}], "db.t")
    assert refusal.value.code == "CODEC"
    check_lines([{key: " "}], "db.t")


#: Names that Java accepts, with those of Python.
ASCII_COMPATIBLE = {
    **{name: name for name in ("utf-8", "Shift_JIS", "Big5", "KOI8-R", "GB2312", "GBK", "GB18030", "EUC-JP")},
    "TIS-620": "tis-620",
    **{"MS932": "cp932", "windows-31j": "cp932", "ISO8859_1": "latin-1", "ISO-8859-15": "iso8859-15"},
    **{"latin1": "latin-1", "Cp1252": "cp1252", "ASCII": "ascii", "US-ASCII": "ascii", "IBM850": "cp850"},
}


@pytest.mark.parametrize("name", ASCII_COMPATIBLE)
def test_an_encoding_in_which_only_a_line_feed_has_the_byte_10_is_accepted(name: str) -> None:
    check_lines([{"serialization.encoding": name}], "db.t")
    for code in [*range(0x80, 0xD800), *range(0xE000, 0x10000)]:
        assert b"\n" not in chr(code).encode(ASCII_COMPATIBLE[name], "ignore"), hex(code)
    assert "\n".encode(ASCII_COMPATIBLE[name]) == b"\n"


@pytest.mark.parametrize(
    "name", ["UTF-16", "UTF-32", "Cp037", "IBM500", "Cp1026", "IBM424", "Cp875", "UTF-8-mine"]
)
def test_other_encodings_are_refused(name: str) -> None:
    with pytest.raises(Refusal):
        check_lines([{"serialization.encoding": name}], "db.t")
