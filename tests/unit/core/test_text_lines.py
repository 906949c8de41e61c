"""Which text tables can be compacted line by line."""

from __future__ import annotations

import pytest

from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats.text_lines import check_lines


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
    [{}, {"line.delim": "10"}, {"serialization.encoding": "iso-8859-1"}, {"skip.header.line.count": "0"}],
)
def test_lines_that_end_at_line_feeds_are_accepted(properties: dict[str, str]) -> None:
    check_lines([properties], "db.t")
