"""The footers of Parquet files, read by parquet-java on the driver, thousands of them by a few calls to the JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeVar

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.content_errors import is_of_content, unreadable_by
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.adapters.hadoop.java_errors import call, error_class, is_java_error, java_errors, root_cause
from spark_jobs.adapters.spark.file_index import without_server
from spark_jobs.adapters.spark.formats.footer_json import footer_mapper, status_reader, statuses
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.adapters.spark.unreadable_files import by_halves, unreadable
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.parquet_json import Reading, about, parquet_footers
from spark_jobs.core.formats.parquet_types import parse_message
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import FileEntry, name_of
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

T = TypeVar("T")
_BATCH = 1000
#: What the library raises where a footer is encrypted, and it has no key.
_ENCRYPTION = "org.apache.parquet.crypto."


class FooterFile(NamedTuple):
    """A file to read, its directory, and the number of the directory.

    The URI is made when it is needed: a million URIs would take 200 MB.
    """

    place: str
    entry: FileEntry
    directory: int

    @property
    def uri(self) -> str:
        return f"{self.place}/{self.entry.name}"


class DriverFooters:
    """Reads footers with parquet-java, in threads of the JVM."""

    def __init__(self, spark: SparkSession, conf: Any, types: SparkTypes, calls: NameNodeCalls) -> None:
        self._calls = calls
        self._jvm: Any = spark._jvm
        self._conf = conf
        self._mapper = footer_mapper(spark.sparkContext._gateway)
        self._statuses = status_reader(self._jvm)
        self._types = types
        #: By the text of a file's schema, the columns as Spark reads them.
        self._readings: dict[str, Reading] = {}

    def read(self, files: Sequence[FooterFile]) -> Iterator[tuple[int, list[Footer]]]:
        """Yield the footers of each batch by directory. Python decodes a batch while the JVM reads another one."""
        batches = in_batches(files, min(_BATCH, self._calls.together))
        if len(batches) < 2:
            yield from chain.from_iterable(map(self._read_batch, batches))
            return
        with ThreadPoolExecutor(2) as pool:
            yield from chain.from_iterable(pool.map(self._read_batch, batches))

    def _read_batch(self, files: Sequence[FooterFile]) -> list[tuple[int, list[Footer]]]:
        self._calls.take(files[0].uri, len(files))
        with java_errors(f"cannot read the footers of {len(files)} files, the first being {files[0].uri}"):
            decoded = self._all_footers(files)
            rows = self._decoded(files, decoded)
            found = [without_server(row["file"]) for row in rows]
            if found != [without_server(file.uri) for file in files]:
                raise FileSystemError(
                    f"the footers that were read from {files[0].uri} on are not those asked for"
                )
            readings = [self._reading_of(about(row)["schema"], decoded, n) for n, row in enumerate(rows)]
            by_directory = groupby(zip(files, rows, readings), lambda each: each[0].directory)
            return [
                (number, parquet_footers([(row, reading) for _, row, reading in each]))
                for number, each in by_directory
            ]

    def _decoded(self, files: Sequence[FooterFile], answer: Any) -> Any:
        """Return what the footers hold. The footer of an encrypted column can be read with its key only."""
        try:
            return java_json(self._mapper, answer)
        except Exception as error:
            if _needs_key(error):  # guard: encrypted_columns
                reason = f"one of the {len(files)} files from {files[0].uri} on has encrypted columns"
                raise Refusal(RefusalCode.ENCRYPTED, reason) from None
            raise

    def _all_footers(self, files: Sequence[FooterFile]) -> Any:
        """Return a Java list with the footers of files, in this order.

        By the lengths of the listing, neither the directory is listed again nor the NameNode asked about each file.
        """
        try:
            return self._footers_of(lengths_of(files))
        except Exception as error:
            if not is_java_error(error):
                raise
            kind, message = root_cause(error)
            if kind == "java.io.FileNotFoundException":
                raise FileNotFoundError(message) from None
            file = self._unreadable(error, files)
            place = file or files[0].uri
            # The library fails with this exception on a logical type that was added to Parquet after its release.
            if kind == "java.lang.NullPointerException" and is_of_content(error):
                why = f"{name_of(place)} holds a type that this Spark's Parquet library does not know"
                raise Refusal(RefusalCode.TYPE, why) from None
            if error_class(kind, message) is PermissionError:
                raise PermissionError(f"cannot read {place}: {message}") from None
            if _needs_key(error):  # guard: encrypted_footers
                why = f"{name_of(place)} has an encrypted footer: {message}"
                raise Refusal(RefusalCode.ENCRYPTED, why) from None
            if file and is_of_content(error):
                raise unreadable_by(error, file) from None
            if file:
                why = f"cannot read the footer of {name_of(file)}: {message or kind}"
                raise FileSystemError(why) from None
            raise

    def _footers_of(self, lengths: Mapping[str, int]) -> Any:
        """Return the footers of files with these URIs and lengths."""
        reader = self._jvm.org.apache.parquet.hadoop.ParquetFileReader
        return reader.readAllFootersInParallel(self._conf, self._statuses.readValue(statuses(lengths)))

    def _unreadable(self, error: Exception, files: Sequence[FooterFile]) -> str | None:
        """Return the URI of the file whose footer cannot be read; None if it is not known."""
        lengths = lengths_of(files)

        def read(uris: Sequence[str]) -> None:
            self._footers_of({uri: lengths[uri] for uri in uris})

        uris = list(lengths)
        return by_halves(uris, read, _needs_key) if _needs_key(error) else unreadable(error, uris, read)

    def leaves(self, file: FooterFile) -> int:
        """Return how many columns and groups a file has."""
        footers = self._alone(file)
        schema = str(_schema_of(footers, 0).toString())
        self._reading_of(schema, footers, 0)  # `reading` asks for it next
        return len(parse_message(schema))

    def reading(self, schema: str, file: FooterFile) -> Reading | None:
        """Return the columns as Spark reads them, of a file with a schema of this text; None if it has another one."""
        if schema not in self._readings:
            footers = self._alone(file)
            if str(_schema_of(footers, 0).toString()) != schema:
                return None
            self._reading_of(schema, footers, 0)
        return self._readings[schema]

    def _alone(self, file: FooterFile) -> Any:
        """Return a Java list with the footer of one file."""
        self._calls.take(file.uri)
        with java_errors(f"cannot read the footer of {file.uri}"):
            return self._all_footers([file])

    def _reading_of(self, schema: str, footers: Any, number: int) -> Reading:
        """Return the columns of a footer in a Java list as Spark reads them.

        Thousands of files, and all partitions of a table, have only a few different schemas.
        """
        if schema not in self._readings:
            self._readings[schema] = self._types.of_parquet(_schema_of(footers, number))
        return self._readings[schema]


def _schema_of(footers: Any, number: int) -> Any:
    """Return the schema of a footer in a Java list."""
    # Called this way, because a list whose methods are looked up would stay in the JVM's memory for long.
    return call(footers, "get", number).getParquetMetadata().getFileMetaData().getSchema()


def in_batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def lengths_of(files: Iterable[FooterFile]) -> dict[str, int]:
    """Return the lengths of files by URI."""
    return {file.uri: file.entry.length for file in files}


def _needs_key(error: Exception) -> bool:
    return is_java_error(error) and root_cause(error)[0].startswith(_ENCRYPTION)
