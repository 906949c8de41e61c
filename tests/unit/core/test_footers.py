"""What footers say of columns, types, codecs and rows, before a rewrite and after it."""

from __future__ import annotations

import pytest

from spark_jobs.core.formats import footers, verification
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.orc_types import parse_struct
from spark_jobs.core.formats.parquet_types import parse_message, unwritable
from spark_jobs.core.messages.errors import Refusal, VerificationFailed

MESSAGE = """message spark_schema {
  required int64 Id;
  optional binary s (STRING);
  optional fixed_len_byte_array(5) d (DECIMAL(10,2));
  optional int64 t (TIMESTAMP(MILLIS,true)) = 4;
  optional group arr (LIST) {
    repeated group list {
      optional group element {
        optional int64 x;
      }
    }
  }
}
"""


def test_a_parquet_schema_is_read_by_path_without_nullability() -> None:
    assert parse_message(MESSAGE) == {
        "id": "int64",
        "s": "binary (STRING)",
        "d": "fixed_len_byte_array(5) (DECIMAL(10,2))",
        "t": "int64 (TIMESTAMP(MILLIS,true)) = 4",
        "arr": "group (LIST)",
        "arr.list": "repeated group",
        "arr.list.element": "group",
        "arr.list.element.x": "int64",
    }


def _message(*lines: str) -> str:
    return "\n".join(["message m {", *(f"  {line}" for line in lines), "}"])


def test_an_interval_is_not_written_as_it_is() -> None:
    lines = ("required int64 id;", "optional binary (INTERVAL) (STRING);")
    assert unwritable(parse_message(_message(*lines))) is None
    for end in ("", " = 3"):
        interval = f"optional fixed_len_byte_array(12) Took (INTERVAL){end};"
        reason = unwritable(parse_message(_message(*lines, interval)))
        assert (reason or "").startswith("column 'took' is an interval")


def test_what_belongs_to_a_name_is_no_annotation_and_no_path() -> None:
    found = parse_message(
        _message(
            "optional double Total (USD);",
            "optional double Total (EUR) = 2;",
            "optional binary Name (legal) (STRING);",
            "optional int32 a.b;",
            "optional group a {",
            "optional int64 b;",
            "}",
            "optional group Sizes (cm) (LIST) {",
            "}",
        )
    )
    assert found == {
        "total (usd)": "double",
        "total (eur)": "double = 2",
        "name (legal)": "binary (STRING)",
        "`a.b`": "int32",
        "a": "group",
        "a.b": "int64",
        "sizes (cm)": "group (LIST)",
    }


@pytest.mark.parametrize(
    "note", ["UINT_8", "TIME(MICROS,true)", "INTEGER(8,false)", "MAP_KEY_VALUE", "FLOAT16"]
)
def test_annotations_of_all_ages_are_part_of_the_type(note: str) -> None:
    assert parse_message(_message(f"optional int32 v ({note});")) == {"v": f"int32 ({note})"}


@pytest.mark.parametrize(
    ("one", "other"), [("id", "ID"), ("a", "a"), ("Total (USD)", "total (usd)"), ("x.y", "X.Y")]
)
def test_columns_that_differ_only_in_case_are_named_as_they_are(one: str, other: str) -> None:
    with pytest.raises(Refusal) as refusal:
        parse_message(_message(f"optional int32 {one};", f"optional int32 {other};"))
    assert refusal.value.code == "SCHEMA_CONFLICT"
    assert one in refusal.value.reason
    assert other in refusal.value.reason


def test_an_orc_struct_is_read_by_its_top_fields() -> None:
    text = "struct<a:int,b:array<struct<c:int,d:map<string,int>>>,`we,i:rd`:decimal(10,2),Z:string>"
    assert parse_struct(text) == {
        "a": "int",
        "b": "array<struct<c:int,d:map<string,int>>>",
        "we,i:rd": "decimal(10,2)",
        "z": "string",
    }
    assert parse_struct("struct<>") == {}


def footer(name: str = "a", rows: int = 1, codec: str = "SNAPPY", size: int = 10, **leaves: str) -> Footer:
    return Footer(name, rows, {codec: size}, leaves, {"org.apache.spark.version": "3.5.9"})


def test_a_profile_unites_all_footers() -> None:
    found = footers.profile(
        [footer(id="int64"), footer("b", 2, "GZIP", 90, id="int64", t="int96")], None, "parquet"
    )
    assert (found.rows, found.codec, found.uniform) == (3, "gzip", False)
    assert found.leaves == {"id": "int64", "t": "int96"}
    assert "several codecs (gzip, snappy)" in found.warnings[0]
    assert footers.profile([footer(id="int")], "ZLIB", "orc").codec == "zlib"


def test_conflicting_types_and_foreign_int96_are_refused() -> None:
    with pytest.raises(Refusal, match="'id' is int32 in a and int64 in b"):
        footers.profile([footer(id="int32"), footer("b", id="int64")], None, "parquet")
    with pytest.raises(Refusal, match="UNKNOWN_INT96_WRITER"):
        footers.profile([Footer("a", 1, {}, {"t": "int96"}, {})], None, "parquet")


def test_what_was_written_must_be_what_was_read() -> None:
    before = footers.profile(
        [footer(rows=5, id="int64", d="fixed_len_byte_array(5) (DECIMAL(10,2))")], None, "parquet"
    )
    verification.check_written(
        before, [footer(rows=5, id="int64", d="fixed_len_byte_array(5) (DECIMAL(10,2))")]
    )
    with pytest.raises(VerificationFailed, match="5 rows were read and 4 written"):
        verification.check_written(before, [footer(rows=4, id="int64")])
    for leaves in ({"id": "int64"}, {"id": "int64", "d": "int64 (DECIMAL(10,2))"}):
        with pytest.raises(Refusal, match="TYPE"):
            verification.check_written(before, [footer(rows=5, **leaves)])


@pytest.mark.parametrize(
    ("declared", "file_format", "codec"),
    [
        ("SNAPPY ", "parquet", "snappy"),
        (" Gzip", "parquet", "gzip"),
        ("ZLIB\t", "orc", "zlib"),
        ("", "parquet", "zstd"),
        (" ", "parquet", "zstd"),
    ],
)
def test_blanks_and_case_of_a_declared_codec_are_forgiven(
    declared: str, file_format: str, codec: str
) -> None:
    assert footers.profile([footer(codec="ZSTD", id="int64")], declared, file_format).codec == codec


@pytest.mark.parametrize(
    ("declared", "file_format", "named"),
    [
        ("org.apache.hadoop.io.compress.SnappyCodec", "parquet", "parquet.compression"),
        ("ZLIB", "parquet", "parquet.compression"),
        ("snapy", "parquet", "parquet.compression"),
        ("GZIP", "orc", "orc.compress"),
        ("true", "orc", "orc.compress"),
    ],
)
def test_a_declared_codec_that_nobody_writes_is_refused_with_its_property(
    declared: str, file_format: str, named: str
) -> None:
    with pytest.raises(Refusal, match=f"{named} = '{declared}'") as refusal:
        footers.profile([footer(id="int64")], declared, file_format)
    assert refusal.value.code == "CODEC"


def test_a_codec_of_files_that_nobody_writes_is_refused() -> None:
    with pytest.raises(Refusal, match="brotli") as refusal:
        footers.profile([footer(codec="BROTLI", id="int64")], None, "orc")
    assert refusal.value.code == "CODEC"
    assert footers.profile([footer(codec="BROTLI", id="int64")], "ZSTD", "orc").codec == "zstd"


def test_formats_of_hadoop_name_their_codecs_by_class() -> None:
    name = "org.apache.hadoop.io.compress.BZip2Codec"
    assert footers.profile([footer(codec=name)], None, "text").codec == name


@pytest.mark.parametrize("order", [("ZSTD", "SNAPPY"), ("SNAPPY", "ZSTD")])
def test_of_two_codecs_with_as_many_bytes_it_is_always_the_same_one(order: tuple[str, str]) -> None:
    """Whoever adds the bytes up, and in which order."""
    leaves = {"id": "int64"}
    files = [Footer(name, 1, {codec: 10}, leaves, {}) for name, codec in zip("ab", order, strict=True)]
    assert footers.profile(files, None, "parquet").codec == "snappy"


def test_types_are_the_same_in_a_driver_whose_locale_is_turkish() -> None:
    """parquet-java writes them in lower case by the locale of its JVM; guards look for their names."""
    leaves = parse_message(
        _message(
            "required \u0131nt96 ts;", "optional b\u0131nary \u0131 (STRING);", "optional \u0131nt64 n = 4;"
        )
    )
    assert leaves == {"ts": "int96", "\u0131": "binary (STRING)", "n": "int64 = 4"}
    with pytest.raises(Refusal, match="INT96 timestamps that Spark did not write"):
        footers.profile([Footer("f", 1, {"SNAPPY": 1}, leaves, {})], None, "parquet")
