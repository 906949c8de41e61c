"""The file formats that are compacted. Each one is an entry of `FORMATS`; what Spark and Hadoop have to do for it is in
`adapters/spark/formats`.

Everywhere else a format is its name, as the wire and Spark's data sources have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.orc_types import by_position
from spark_jobs.core.text_lines import check_lines

PARQUET, ORC, TEXT, AVRO, SEQUENCE = "parquet", "orc", "text", "avro", "sequencefile"
_HIVE = "org.apache.hadoop.hive"


def _accept(_: Sequence[Mapping[str, str]], __: str) -> None:
    """Accept any properties."""


@dataclass(frozen=True)
class FormatSpec:
    """One format.

    Attributes:
        storages: pairs of input format and SerDe by which the metastore tells it. Both must be known: Hudi, for one,
            uses the Parquet SerDe with an input format of its own.
        output_format: the class in the DDL of a backup table; None where `STORED AS <name>` says it all.
        table_properties: prefixes of table properties without which the files cannot be read.
        has_footer: a file with its footer has been closed, and the footer counts the rows.
        codec_property: the table property that declares the codec.
        no_codec: how files without compression are called.
        codec_classes: codecs are called by their Java classes, whose case counts.
        lines: files are read and written as lines of text, which nothing counts and nothing sorts.
        mirrors_layout: row groups and Bloom filters are written as the files have them.
        by_position: do readers match the columns of a file with these types by position?
        check_properties: raises Refusal for properties (of table, its SerDe, partition) under which a rewrite would
            change what is read; the second argument names the table or partition.
    """

    storages: tuple[tuple[str, str], ...]
    output_format: str | None = None
    table_properties: tuple[str, ...] = ()
    has_footer: bool = False
    codec_property: str | None = None
    no_codec: str = "none"
    codec_classes: bool = True
    lines: bool = False
    mirrors_layout: bool = False
    by_position: Callable[[Mapping[str, str]], bool] = lambda _: False
    check_properties: Callable[[Sequence[Mapping[str, str]], str], None] = _accept


_TEXT_SERDES = (
    f"{_HIVE}.serde2.lazy.LazySimpleSerDe",
    f"{_HIVE}.serde2.OpenCSVSerde",
    f"{_HIVE}.serde2.JsonSerDe",
    "org.apache.hive.hcatalog.data.JsonSerDe",
    f"{_HIVE}.serde2.RegexSerDe",
)

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
        no_codec="uncompressed",
        codec_classes=False,
        mirrors_layout=True,
    ),
    ORC: FormatSpec(
        ((f"{_HIVE}.ql.io.orc.OrcInputFormat", f"{_HIVE}.ql.io.orc.OrcSerde"),),
        has_footer=True,
        codec_property="orc.compress",
        codec_classes=False,
        by_position=by_position,
    ),
    AVRO: FormatSpec(
        ((f"{_HIVE}.ql.io.avro.AvroContainerInputFormat", f"{_HIVE}.serde2.avro.AvroSerDe"),),
        output_format=f"{_HIVE}.ql.io.avro.AvroContainerOutputFormat",
        table_properties=("avro.schema.",),
    ),
    SEQUENCE: FormatSpec(
        (("org.apache.hadoop.mapred.SequenceFileInputFormat", f"{_HIVE}.serde2.lazy.LazySimpleSerDe"),),
        output_format=f"{_HIVE}.ql.io.HiveSequenceFileOutputFormat",
    ),
    TEXT: FormatSpec(
        tuple(("org.apache.hadoop.mapred.TextInputFormat", serde) for serde in _TEXT_SERDES),
        output_format=f"{_HIVE}.ql.io.HiveIgnoreKeyTextOutputFormat",
        lines=True,
        check_properties=check_lines,
    ),
}
_BY_STORAGE = {storage: name for name, spec in FORMATS.items() for storage in spec.storages}


def format_of(input_format: str | None, serde: str | None) -> str | None:
    """Return the format of a table or partition; None for any that is not in the registry."""
    return _BY_STORAGE.get((input_format or "", serde or ""))  # guard: input_format_and_serde


def has_footer(name: str | None) -> bool:
    """Return whether files of this format have a footer; an unknown format has none."""
    return name in FORMATS and FORMATS[name].has_footer
