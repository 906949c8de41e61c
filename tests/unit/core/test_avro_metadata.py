"""Which metadata of Avro files a copy carries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_jobs.core.formats import avro_metadata, footers, verification
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal

VERSION, LEGACY = "org.apache.spark.version", "org.apache.spark.legacyDateTime"


def _avro(name: str, metadata: dict[str, str]) -> Footer:
    return Footer(name, None, {"snappy": 10}, {}, {}, "schema", metadata=metadata)


def test_keys_that_only_say_how_dates_are_meant_pass_and_all_others_are_refused() -> None:
    carried = [VERSION, LEGACY, "org.apache.spark.timeZone", "writer.time.zone"]
    assert avro_metadata.check_keys("a", carried) == carried
    for key in ("checksum", "org.apache.spark.other", "parquet.avro.schema", "avro.of.its.own"):
        with pytest.raises(Refusal, match=f"TYPE: a carries metadata of its own .{key}."):
            avro_metadata.check_keys("a", [VERSION, key])


def test_what_every_file_has_of_its_own_is_not_carried() -> None:
    assert avro_metadata.check_keys("a", ["avro.schema", "avro.codec", "avro.sync", VERSION]) == [VERSION]


def test_schemas_are_equal_if_they_say_the_same_in_every_attribute() -> None:
    key = avro_metadata.schema_key
    assert key('{"type": "long", "doc": "a"}') == key('{ "doc":"a","type":"long" }')
    assert key('{"type": "long", "doc": "a"}') != key('{"type": "long", "doc": "b"}')
    assert key('["null", "long"]') != key('["long", "null"]')
    assert key('/* a comment */ "long"') == '/* a comment */ "long"'
    assert key("[" * 100_000) == "[" * 100_000


@pytest.mark.parametrize(
    ("versions", "noted"),
    [
        (["3.5.9"], "3.5.9"),
        (["3.5.9", "3.10.1", "4.0.0"], "3.5.9"),
        (["3.3.2.3.3.7190-1", "3.3.2"], "3.3.2"),
        (["2.4.8", "2.4.8"], "2.4.8"),
        (["unknown", "unknown"], "unknown"),
    ],
)
def test_the_oldest_version_is_noted(versions: list[str], noted: str) -> None:
    files = [(str(number), {VERSION: version, "k": "v"}) for number, version in enumerate(versions)]
    assert avro_metadata.common(files) == {VERSION: noted, "k": "v"}


def test_files_without_metadata_have_none() -> None:
    assert avro_metadata.common([("a", {}), ("b", {})]) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({VERSION: "3.5.9"}, {}),
        ({VERSION: "3.5.9"}, {VERSION: "2.4.8"}),
        ({VERSION: "3.5.9"}, {VERSION: "3.5.9", LEGACY: ""}),
        ({VERSION: "2.4.8"}, {VERSION: "2.4.7"}),
        ({"writer.time.zone": "UTC"}, {"writer.time.zone": "Europe/Paris"}),
    ],
)
def test_files_that_differ_in_it_are_refused(one: dict[str, str], other: dict[str, str]) -> None:
    for first, second in ((one, other), (other, one)):
        with pytest.raises(Refusal, match="TYPE: a and b differ"):
            footers.profile([_avro("a", first), _avro("b", second)], None, "avro")


def test_what_was_written_must_have_it() -> None:
    before = footers.profile([_avro("a", {VERSION: "3.5.9"})], None, "avro")
    verification.check_written(before, [_avro("c", {VERSION: "3.5.9"})])
    with pytest.raises(Refusal, match="TYPE: the metadata is"):
        verification.check_written(before, [_avro("c", {VERSION: "3.5.9"}), _avro("d", {})])


def test_what_was_written_must_have_the_schema() -> None:
    first, other = replace(_avro("a", {}), schema='"long"'), replace(_avro("c", {}), schema='"int"')
    before = footers.profile([first], None, "avro")
    verification.check_written(before, [replace(first, name="d")])
    with pytest.raises(Refusal, match="TYPE: the schema is"):
        verification.check_written(before, [other])
