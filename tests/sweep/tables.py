"""The tables of the sweep: one for each format and each way in which its files are written."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fidelity.avro_container import container, number, text
from tests.spark.toolbox import data_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 4, 30
_RECORD = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "id", "type": "long"}, {"name": "v", "type": "string"}],
}


@dataclass(frozen=True)
class SweptTable:
    """A table of the sweep.

    Attributes:
        write: writes one file, by path and number.
        read: returns everything in a file that must be kept, by a reader that is not Spark's.
        arguments: of the compaction.
    """

    name: str
    ddl: str
    stored: str
    write: Callable[[SparkSession, Path, int], None]
    read: Callable[[SparkSession, Path], Any]
    arguments: tuple[str, ...] = ()
    partitions: int = 0

    def create(self, spark: SparkSession, table: str, folder: Path) -> None:
        for part in self._parts(folder):
            part.mkdir(parents=True)
            for file in range(FILES):
                self.write(spark, part / f"part-{file}{_SUFFIX.get(self.name, '')}", file)
        partitioned = " PARTITIONED BY (p INT)" if self.partitions else ""
        spark.sql(
            f"CREATE EXTERNAL TABLE {table} ({self.ddl}){partitioned} STORED AS {self.stored}"
            f" LOCATION '{folder.as_uri()}'"
        )
        if self.partitions:
            spark.sql(f"MSCK REPAIR TABLE {table}")

    def content(self, spark: SparkSession, folder: Path) -> list[Any]:
        """Return what must be the same before and after, for each directory."""
        return [self._merged(spark, part) for part in self._parts(folder)]

    def files(self, folder: Path) -> int:
        return sum(len(data_files(part)) for part in self._parts(folder))

    def _merged(self, spark: SparkSession, part: Path) -> Any:
        found: Counter[Any] = Counter()
        schemas = set()
        for name in data_files(part):
            rows, schema = self.read(spark, part / name)
            found.update(rows)
            schemas.add(schema)
        return found, schemas

    def _parts(self, folder: Path) -> list[Path]:
        return [folder / f"p={number}" for number in range(self.partitions)] or [folder]


_SUFFIX = {"text gz": ".gz"}


def _columns(file: int, exact: bool) -> Any:
    import pyarrow as pa

    ids = range(file * ROWS, (file + 1) * ROWS)
    columns = {
        "id": pa.array(ids, pa.int64()),
        "v": pa.array([None if n % 7 == 0 else f"v{n}é" for n in ids]),
        "d": pa.array([Decimal(n) / 100 for n in ids], pa.decimal128(9, 2)),
        "f": pa.array([float("nan") if n % 5 == 0 else n / 3 for n in ids], pa.float64()),
        "l": pa.array([[n, None] for n in ids], pa.list_(pa.int32())),
    }
    if exact:
        columns["u"] = pa.array([n for n in ids], pa.uint32())
    return pa.table(columns)


def _parquet(spark: SparkSession, path: Path, file: int) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_columns(file, exact=False), path)


def _parquet_unsigned(spark: SparkSession, path: Path, file: int) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_columns(file, exact=True), path)


def _read_parquet(spark: SparkSession, path: Path) -> Any:
    import pyarrow.parquet as pq

    found = pq.ParquetFile(path)
    types = tuple((c.path, c.physical_type, str(c.logical_type)) for c in _leaves(found))
    return [repr(row) for row in found.read().to_pylist()], types


def _leaves(found: Any) -> list[Any]:
    return [found.schema.column(number) for number in range(len(found.schema))]


def _orc(spark: SparkSession, path: Path, file: int) -> None:
    import pyarrow.orc as orc

    orc.write_table(_columns(file, exact=False).drop_columns(["d"]), path)


def _read_orc(spark: SparkSession, path: Path) -> Any:
    import pyarrow.orc as orc

    found = orc.ORCFile(path)
    return [repr(row) for row in found.read().to_pylist()], str(found.schema.remove_metadata())


def _avro(spark: SparkSession, path: Path, file: int) -> None:
    records = [number(n) + text(b"v%d\xff" % n) for n in range(ROWS)]
    path.write_bytes(container(_RECORD, [records[:20], records[20:]], "deflate"))


def _read_avro(spark: SparkSession, path: Path) -> Any:
    content = path.read_bytes()
    header, *blocks, _ = content.split(content[-16:])
    schema, _ = json.JSONDecoder().raw_decode(header[header.index(b"{") :].decode("latin-1"))
    return blocks, json.dumps(schema)


def _lines(file: int) -> bytes:
    return b"".join(b"%d,%s\n" % (n, b"x" * (n * 13 % 90)) for n in range(file * ROWS, (file + 1) * ROWS))


def _text(spark: SparkSession, path: Path, file: int) -> None:
    path.write_bytes(_lines(file))


def _text_gz(spark: SparkSession, path: Path, file: int) -> None:
    path.write_bytes(gzip.compress(_lines(file)))


def _read_text(spark: SparkSession, path: Path) -> Any:
    return path.read_bytes().removesuffix(b"\n").split(b"\n"), "text"


def _read_gz(spark: SparkSession, path: Path) -> Any:
    return gzip.decompress(path.read_bytes()).removesuffix(b"\n").split(b"\n"), path.suffix


def _sequence(packing: str) -> Callable[[SparkSession, Path, int], None]:
    def write(spark: SparkSession, path: Path, file: int) -> None:
        jvm: Any = spark._jvm
        io = jvm.org.apache.hadoop.io
        of = io.SequenceFile.Writer
        options = spark.sparkContext._gateway.new_array(of.Option, 4)
        options[0] = of.file(jvm.org.apache.hadoop.fs.Path(f"file:{path}"))
        options[1] = of.keyClass(jvm.java.lang.Class.forName("org.apache.hadoop.io.NullWritable"))
        options[2] = of.valueClass(jvm.java.lang.Class.forName("org.apache.hadoop.io.Text"))
        options[3] = of.compression(getattr(io.SequenceFile.CompressionType, packing))
        writer = io.SequenceFile.createWriter(jvm.org.apache.hadoop.conf.Configuration(), options)
        for n in range(ROWS):
            writer.append(io.NullWritable.get(), io.Text(f"{file},{n},{'x' * n}"))
        writer.close()
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)

    return write


def _read_sequence(spark: SparkSession, path: Path) -> Any:
    jvm: Any = spark._jvm
    of = jvm.org.apache.hadoop.io.SequenceFile.Reader
    options = spark.sparkContext._gateway.new_array(of.Option, 1)
    options[0] = of.file(jvm.org.apache.hadoop.fs.Path(f"file:{path}"))
    reader = of(jvm.org.apache.hadoop.conf.Configuration(), options)
    key, value, rows = jvm.org.apache.hadoop.io.NullWritable.get(), jvm.org.apache.hadoop.io.Text(), []
    while reader.next(key, value):
        rows.append(str(value.toString()))
    kind = str(reader.getValueClassName()), str(reader.getCompressionType().toString())
    reader.close()
    return rows, kind


_COLUMNS = "id BIGINT, v STRING, d DECIMAL(9,2), f DOUBLE, l ARRAY<INT>"
_NO_DECIMAL = "id BIGINT, v STRING, f DOUBLE, l ARRAY<INT>"

TABLES = (
    SweptTable("parquet", _COLUMNS, "PARQUET", _parquet, _read_parquet),
    SweptTable("parquet hashed", _COLUMNS, "PARQUET", _parquet, _read_parquet, ("--verify", "hash")),
    SweptTable("parquet joint", _COLUMNS, "PARQUET", _parquet, _read_parquet, partitions=3),
    SweptTable("parquet by records", f"{_COLUMNS}, u BIGINT", "PARQUET", _parquet_unsigned, _read_parquet),
    SweptTable("orc", _NO_DECIMAL, "ORC", _orc, _read_orc),
    SweptTable("avro", "id BIGINT, v STRING", "AVRO", _avro, _read_avro),
    *(
        SweptTable(f"sequence {packing}", "v STRING", "SEQUENCEFILE", _sequence(packing), _read_sequence)
        for packing in ("NONE", "RECORD", "BLOCK")
    ),
    SweptTable("text", "v STRING", "TEXTFILE", _text, _read_text),
    SweptTable("text gz", "v STRING", "TEXTFILE", _text_gz, _read_gz),
)
