"""The file formats that are compacted. Each one is an entry of `FORMATS`.

How Spark and Hadoop read and write a format is in `adapters/spark/formats`. Everywhere else a format is its name, on
the wire too: the name of Spark's data source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.formats.orc_types import by_position
from spark_jobs.core.formats.text_lines import check_lines

PARQUET, ORC, TEXT, AVRO, SEQUENCE = "parquet", "orc", "text", "avro", "sequencefile"
_HIVE = "org.apache.hadoop.hive"


def _accept(_: Sequence[Mapping[str, str]], __: str) -> None:
    """Accept any properties."""


@dataclass(frozen=True)
class FormatSpec:
    """One format.

    Attributes:
        storages: pairs of input format and SerDe in the metastore that identify the format. Both must match: Hudi, for
            example, uses the Parquet SerDe with its own input format.
        output_format: the class in the DDL of a backup table; None if `STORED AS <name>` is enough.
        table_properties: prefixes of table properties without which the files cannot be read.
        has_footer: files have a footer. A file with its footer is closed, and the footer has the number of rows.
        codec_property: the table property that declares the codec.
        codecs: the names of codecs that Spark can write, if it has their classes; empty for any.
        no_codec: the name of the codec of files without compression.
        codec_classes: codecs are named by their Java classes, whose case counts.
        copied_without_types: the files have no types, so that the metastore's types do not matter for a copy.
        lines: files are read and written as lines of text, which are not counted and cannot be sorted.
        mirrors_layout: row groups and Bloom filters are written as in the original files.
        by_position: tells whether readers match the columns of a file with these types by position.
        read_by_position: an engine matches the columns of all files by position by default (docs/guides/engines.md).
        check_properties: raises Refusal for properties (of the table, its SerDe, the partition) with which a rewrite
            would change the rows that are read. The second argument names the table or partition.
    """

    storages: tuple[tuple[str, str], ...]
    output_format: str | None = None
    table_properties: tuple[str, ...] = ()
    has_footer: bool = False
    codec_property: str | None = None
    codecs: tuple[str, ...] = ()
    no_codec: str = "none"
    codec_classes: bool = True
    copied_without_types: bool = False
    lines: bool = False
    mirrors_layout: bool = False
    by_position: Callable[[Mapping[str, str]], bool] = lambda _: False
    read_by_position: bool = False
    check_properties: Callable[[Sequence[Mapping[str, str]], str], None] = _accept

    @property
    def read_by_spark(self) -> bool:
        """Tell whether Spark's own engine rewrites the files, unless their footers forbid it. Others are copied."""
        return self.has_footer or self.lines


#: SerDes that read one line as one row, whatever the lines before it are.
_TEXT_SERDES = (
    f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
    f"{_HIVE}.serde2.OpenCSVSerde",
    f"{_HIVE}.serde2.JsonSerDe",
    "org.apache.hive.hcatalog.data.JsonSerDe",
    f"{_HIVE}.serde2.RegexSerDe",
    f"{_HIVE}.serde2.MultiDelimitSerDe",
    f"{_HIVE}.contrib.serde2.MultiDelimitSerDe",
    f"{_HIVE}.contrib.serde2.RegexSerDe",
    "org.apache.hcatalog.data.JsonSerDe",
    "org.openx.data.jsonserde.JsonSerDe",
    "com.cloudera.hive.serde.JSONSerDe",
    "com.bizo.hive.serde.csv.CSVSerde",
)
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"

FORMATS: dict[str, FormatSpec] = {
    PARQUET: FormatSpec(
        (
            (
                f"{_HIVE}.ql.io.parquet.MapredParquetInputFormat",
                f"{_HIVE}.ql.io.parquet.serde.ParquetHiveSerDe",
            ),
        ),
        has_footer=True,
        codec_property="parquet.compression",
        codecs=("none", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "zstd", "lzo", "brotli"),
        no_codec="uncompressed",
        codec_classes=False,
        mirrors_layout=True,
    ),
    ORC: FormatSpec(
        ((f"{_HIVE}.ql.io.orc.OrcInputFormat", f"{_HIVE}.ql.io.orc.OrcSerde"),),
        has_footer=True,
        codec_property="orc.compress",
        codecs=("none", "uncompressed", "snappy", "zlib", "lz4", "zstd", "lzo"),
        codec_classes=False,
        by_position=by_position,
        read_by_position=True,
    ),
    AVRO: FormatSpec(
        ((f"{_HIVE}.ql.io.avro.AvroContainerInputFormat", f"{_HIVE}.serde2.avro.AvroSerDe"),),
        output_format=f"{_HIVE}.ql.io.avro.AvroContainerOutputFormat",
        table_properties=("avro.schema.",),
    ),
    SEQUENCE: FormatSpec(
        (("org.apache.hadoop.mapred.SequenceFileInputFormat", f"{_HIVE}.serde2.lazy.LazySimpleSerDe"),),
        output_format=f"{_HIVE}.ql.io.HiveSequenceFileOutputFormat",
        copied_without_types=True,
    ),
    TEXT: FormatSpec(
        tuple((_TEXT_INPUT, serde) for serde in _TEXT_SERDES),
        output_format=f"{_HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat",
        copied_without_types=True,
        lines=True,
        check_properties=check_lines,
    ),
}
_BY_STORAGE = {storage: name for name, spec in FORMATS.items() for storage in spec.storages}


def format_of(input_format: str | None, serde: str | None) -> str | None:
    """Return the format of a table or partition; None if it is not one of `FORMATS`."""
    return _BY_STORAGE.get((input_format or "", serde or ""))  # guard: input_format_and_serde


def not_supported(input_format: str | None, serde: str | None) -> str:
    """Return why a table or partition has no known format."""
    serdes = [known for known_input, known in _BY_STORAGE if known_input == input_format]
    if input_format == _TEXT_INPUT:
        return f"is text that the SerDe {serde} reads, of which is not known whether it reads each line by itself"
    if serdes:
        return f"has the input format {input_format}, but the SerDe {serde} instead of {' or '.join(serdes)}"
    return f"has the input format {input_format} (with the SerDe {serde}), which is none of those that are compacted"


def has_footer(name: str | None) -> bool:
    """Tell whether files of this format have a footer. Files of an unknown format have none."""
    return name in FORMATS and FORMATS[name].has_footer
