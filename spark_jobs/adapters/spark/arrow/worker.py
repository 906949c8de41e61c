"""What a Python worker of an executor does: it reads whole Parquet files, and writes them as one file, in memory.

These functions travel to the workers by value, and those of `figures` with them, because the executors may not have the
jobs' modules. So they import nothing else of them, and pyarrow only where it is used: a driver without it must be able
to say so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pyspark import AccumulatorParam

from spark_jobs.adapters.spark.arrow.figures import Figures
from spark_jobs.adapters.spark.arrow.floats import has_nan, with_floats

#: A row group is written when it has files of so many bytes, or rows of so many bytes in memory.
_ROW_GROUP_FILE_BYTES, _ROW_GROUP_MEMORY_BYTES = 64 << 20, 256 << 20
#: The rows that are read at once: a value that occurs in many rows is in the file once, and in memory in each of them.
_ROWS_AT_ONCE = 1024
_LONGEST_REASON = 500
#: The bytes of a text that goes back to the JVM, and in how many the byte `1` is looked for at once.
_TEXT_BYTES, _SEARCHED_BYTES = 1 << 20, 4096


class Writing(NamedTuple):
    """How the files of a job are written.

    Attributes:
        version: the version of pyarrow that all workers must have.
        codec: by its name for pyarrow.
        level: the level of the codec; None if it has none.
        own_key: the key of Arrow in the metadata, which is never written: it repeats the schema, and would change the
            types by which Arrow reads the file.
    """

    version: str
    codec: str
    level: int | None
    own_key: bytes


class Refused(Exception):
    """The files are not rewritten here, and why."""


class Reasons(AccumulatorParam):  # type: ignore[type-arg]
    """Why units were refused, by their numbers, from all workers of a job."""

    def zero(self, value: Any) -> Any:  # noqa: ARG002 - PySpark's signature
        return {}

    def addInPlace(self, left: Any, right: Any) -> Any:
        return {**left, **right}


def rewriting(writing: Writing, reasons: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function for the workers.

    Args:
        reasons: an accumulator (`Reasons`).
    """

    def rewrite(batches: Iterator[Any]) -> Iterator[Any]:
        return rewritten(batches, writing, lambda unit, why: reasons.add({unit: why[:_LONGEST_REASON]}))

    return rewrite


def rewritten(batches: Iterator[Any], writing: Writing, note: Callable[[int, str], None]) -> Iterator[Any]:
    """Rewrite the files of a task, and yield the bytes of each new file as texts, each without the `1` behind it.

    Every Parquet file ends with `PAR1`. The sink for text writes a `1` behind each row, and nothing else. Of files that
    are refused nothing is yielded, so that no file is written.

    Args:
        batches: rows (unit, number of its files, name, length, content), unit by unit, in the order of the files.
        note: is called with the unit and the reason of a refusal.
    """
    for unit, rows in itertools.groupby(_rows(batches), lambda row: row[0]):
        try:
            data = _rewritten(rows, writing)
        except Exception as error:  # Whatever it is, Spark rewrites these files, and the task goes on.
            note(unit, str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}")
        else:
            yield from _texts(unit, data)


def _rows(batches: Iterator[Any]) -> Iterator[tuple[int, int, str, int, Any]]:
    for batch in batches:
        plain = [batch.column(number).to_pylist() for number in range(4)]
        yield from zip(*plain, batch.column(4))


def _rewritten(rows: Iterable[tuple[int, int, str, int, Any]], writing: Writing) -> Any:
    """Return the bytes of one new file."""
    import pyarrow

    if pyarrow.__version__ != writing.version:  # guard: one_version_of_pyarrow
        raise Refused(f"pyarrow is {pyarrow.__version__} on an executor, and {writing.version} on others")
    file, expected = _NewFile(writing), 0
    for row in rows:
        expected = row[1]
        file.append(*row[2:])
    return file.finished(expected)


class _NewFile:
    """A Parquet file that is written in memory from others with the same schema and the same metadata."""

    def __init__(self, writing: Writing) -> None:
        import pyarrow

        self._writing = writing
        self._out = pyarrow.BufferOutputStream()
        self._writer: Any = None
        self._options: dict[str, Any] = {}
        self._schema = ""
        self._metadata: dict[bytes, bytes] = {}
        self._floats: list[int] = []
        self._tables: list[Any] = []
        self._file_bytes = self._memory_bytes = self._files = 0
        self._figures = Figures()

    def append(self, name: str, length: int, content: Any) -> None:
        """Append the rows of a file."""
        import pyarrow

        file = _opened(name, length, content)
        if self._files == 0:
            self._begin(file)
        elif _text_of(file.schema) != self._schema:
            raise Refused(f"{name} has another schema")
        elif self._metadata_of(file) != self._metadata:
            raise Refused(f"{name} has other metadata")
        self._files += 1
        self._figures.add(file.metadata)
        for batch in file.iter_batches(_ROWS_AT_ONCE, use_threads=False):
            if any(has_nan(batch.column(number)) for number in self._floats):  # guard: arrow_floats
                raise Refused(f"{name} has NaN")
            self._add(pyarrow.Table.from_batches([batch]), length)
            length = 0

    def _begin(self, file: Any) -> None:
        """Choose the options with which the schema stays as it is."""
        self._schema, self._metadata = _text_of(file.schema), self._metadata_of(file)
        schema = file.schema_arrow
        self._floats = with_floats(schema)
        # Old versions of Impala do not know the names of version 2 for dictionaries.
        for version, integers in itertools.product(("1.0", "2.6"), (True, False)):
            options = {**self._fixed(file.schema), "version": version, "store_decimal_as_integer": integers}
            if _text_of(_written_schema(schema, options)) == self._schema:
                self._options = options
                return
        raise Refused("Arrow would write other types")

    def _fixed(self, schema: Any) -> dict[str, Any]:
        leaves = [schema.column(number) for number in range(len(schema))]
        return {
            "compression": self._writing.codec,
            "compression_level": self._writing.level,
            "data_page_version": "1.0",
            "store_schema": False,
            "write_page_index": True,
            "write_page_checksum": True,
            # By a dictionary, parquet-java's readers take 0.0 and -0.0 for two values.
            "use_dictionary": [leaf.path for leaf in leaves if leaf.physical_type not in ("FLOAT", "DOUBLE")],
        }

    def _add(self, table: Any, size: int) -> None:
        self._tables.append(table)
        self._file_bytes += size
        self._memory_bytes += table.get_total_buffer_size()
        if self._file_bytes >= _ROW_GROUP_FILE_BYTES or self._memory_bytes >= _ROW_GROUP_MEMORY_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Write a row group."""
        import pyarrow
        import pyarrow.parquet

        if not self._tables:
            return
        table = pyarrow.concat_tables(self._tables)
        self._tables = []
        self._file_bytes = self._memory_bytes = 0
        if self._writer is None:
            self._writer = pyarrow.parquet.ParquetWriter(self._out, table.schema, **self._options)
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def finished(self, files: int) -> Any:
        """Return the bytes of the file, after a comparison of its footer with those of the files."""
        if self._files != files:  # guard: arrow_all_files
            raise Refused(f"{self._files} files were read instead of {files}")
        self._flush()
        if self._writer is None:
            raise Refused("the files have no rows")
        self._writer.add_key_value_metadata(self._metadata)
        self._writer.close()
        data = self._out.getvalue()
        self._compare(data)
        return data

    def _compare(self, data: Any) -> None:
        """Raise Refused if the footer of the new file differs from those of the files."""
        import pyarrow
        import pyarrow.parquet

        written = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        if _text_of(written.schema) != self._schema:
            raise Refused("Arrow has written other types")
        if self._metadata_of(written) != self._metadata:
            raise Refused("Arrow has written other metadata")
        own = Figures()
        own.add(written.metadata)
        difference = self._figures.difference(own)
        if difference:  # guard: arrow_figures
            raise Refused(difference)

    def _metadata_of(self, file: Any) -> dict[bytes, bytes]:
        given = file.metadata.metadata or {}
        return {key: value for key, value in given.items() if key != self._writing.own_key}


def _opened(name: str, length: int, content: Any) -> Any:
    """Return a file that has come whole. Its pages are compared with their checksums when they are read."""
    import pyarrow
    import pyarrow.parquet

    if not content.is_valid:
        raise Refused(f"{name} cannot be read")
    data = content.as_buffer()
    if data.size != length:  # guard: arrow_lengths
        raise Refused(f"{name} has {data.size} bytes instead of {length}")
    return pyarrow.parquet.ParquetFile(
        pyarrow.BufferReader(data), page_checksum_verification=True
    )  # guard: arrow_reads_checksums


def _written_schema(schema: Any, options: Mapping[str, Any]) -> Any:
    """Return the schema of an empty file that is written with these options."""
    import pyarrow
    import pyarrow.parquet

    out = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(schema.empty_table(), out, **options)
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(out.getvalue())).schema


def _text_of(schema: Any) -> str:
    """Return the text of a schema without the name of its root, which is the writer's: two lines are before it."""
    return "\n".join(str(schema).splitlines()[2:])


def _texts(unit: int, data: Any) -> Iterator[Any]:
    """Yield the bytes as rows (unit, text), cut before some of their bytes `1`."""
    import pyarrow

    start = 0
    while start < data.size:
        end = _next_one(data, min(start + _TEXT_BYTES, data.size - 1))
        text = data.slice(start, end - start)
        offsets = pyarrow.array([0, text.size], pyarrow.int32()).buffers()[1]
        value = pyarrow.StringArray.from_buffers(1, offsets, text)
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array([unit], pyarrow.int32()), value], ["unit", "value"]
        )
        start = end + 1


def _next_one(data: Any, start: int) -> int:
    """Return the position of the next byte `1`, which at the latest is the last one of `PAR1`."""
    while part := data.slice(start, min(_SEARCHED_BYTES, data.size - start)).to_pybytes():
        found = int(part.find(b"1"))
        if found >= 0:
            return start + found
        start += len(part)
    raise Refused("the new file does not end as Parquet files do")
