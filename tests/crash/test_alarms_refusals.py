"""Refusals of units that have a faithful result: each file in the group of its own types."""
from __future__ import annotations
import pytest
from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats import file_groups, footers
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.orc_types import parse_struct
from spark_jobs.core.formats.parquet_types import parse_message
from spark_jobs.core.formats.text_lines import check_lines

def groups(*leaves, fmt="orc", writer=None):
    found = [Footer(f"f{i}", 1, {"zlib": 1}, l, writer or {}, str(l)) for i, l in enumerate(leaves)]
    parts = file_groups.grouped(found, False).footers
    for p in parts: footers.profile(p, None, fmt)
    return len(parts)

SPARK = {"org.apache.spark.version": "3.5.0"}

@pytest.mark.parametrize("one,other", [
    ("struct<c:varchar(10)>", "struct<c:varchar(50)>"),          # ALTER TABLE CHANGE c c varchar(50)
    ("struct<c:varchar(10)>", "struct<c:string>"),               # ALTER TABLE CHANGE c c string
    ("struct<c:char(2)>", "struct<c:string>"),
    ("struct<s:struct<a:int>>", "struct<s:struct<a:int,b:string>>"),   # a field was added to a struct
    ("struct<s:array<struct<a:int>>>", "struct<s:array<struct<a:int,b:int>>>"),
    ("struct<s:array<int>>", "struct<s:array<bigint>>"),
    ("struct<i:int>", "struct<i:decimal(20,0)>"),
    ("struct<i:int>", "struct<i:double>"),
    ("struct<i:int>", "struct<i:string>"),                       # allowed by hive.metastore.disallow.incompatible...
])
def test_orc_evolution(one, other):
    assert groups(parse_struct(one), parse_struct(other)) <= 2

def message(*lines): return parse_message("message m {\n" + "\n".join(lines) + "\n}\n")

@pytest.mark.parametrize("one,other", [
    (("optional binary c;",), ("optional binary c (STRING);",)),              # Impala (no annotation) and Spark/Hive
    (("optional int96 t;",), ("optional int64 t (TIMESTAMP(MICROS,true));",)),  # Spark's outputTimestampType changed
    (("optional int64 t (TIMESTAMP(MILLIS,true));",), ("optional int64 t (TIMESTAMP(MICROS,true));",)),
    (("optional int32 c = 1;",), ("optional int32 c;",)),
    (("optional int32 c;",), ("optional double c;",)),
])
def test_parquet_writers(one, other):
    assert groups(message(*one), message(*other), fmt="parquet", writer=SPARK) <= 2

def test_lists_of_hive_and_of_spark_need_two_groups():
    hive = message("optional group l (LIST) {", "repeated group bag {", "optional int32 array_element;", "}", "}")
    spark = message("optional group l (LIST) {", "repeated group list {", "optional int32 element;", "}", "}")
    assert groups(hive, spark, fmt="parquet", writer=SPARK) == 2  # one group: TYPE, 'absent', as Spark writes one of them

def test_column_with_a_dot_beside_a_struct():
    assert message("optional int32 a.b;", "optional group a {", "optional int32 b;", "}")

@pytest.mark.parametrize("encoding", ["Shift_JIS", "MS932", "windows-31j", "Big5", "KOI8-R", "ISO8859_1", "latin1", "Cp1252", "ASCII", "GB2312", "IBM850", "TIS-620"])
def test_encodings_whose_line_feed_is_the_byte_10(encoding):
    check_lines([{"serialization.encoding": encoding}], "t")
