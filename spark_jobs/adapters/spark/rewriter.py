"""Rewrites the rows of a unit into fewer files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from pyspark.sql import DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.adapters.spark.appending import AvroAppender
from spark_jobs.adapters.spark.arrow.rewriter import ArrowRewriter
from spark_jobs.adapters.spark.byte_copies import ByteCopies
from spark_jobs.adapters.spark.copying import Copier
from spark_jobs.adapters.spark.file_index import LISTED_BY_DRIVER, ExactReader
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.adapters.spark.hashing import Fingerprint, Hashing
from spark_jobs.adapters.spark.joint_rewriter import JointRewriter
from spark_jobs.adapters.spark.merging import Merger
from spark_jobs.adapters.spark.requests import explained, is_lines, schema_of, set_options, write_options
from spark_jobs.adapters.spark.sequence_copies import SequenceCopier
from spark_jobs.adapters.spark.sessions import Sessions
from spark_jobs.adapters.spark.spreading import spread
from spark_jobs.adapters.spark.text_bytes import TextBytes
from spark_jobs.adapters.spark.unreadable_files import unreadable
from spark_jobs.adapters.spark.wide_reading import scan_settings, slots
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Profile
from spark_jobs.core.formats.registry import AVRO, FORMATS, SEQUENCE
from spark_jobs.core.messages.errors import LakekeeperError, Refusal, VerificationFailed
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.measuring.phases import Phases
from spark_jobs.protocol.ports import Arrow, JointFiles, RewriteRequest, RewriteResult


class _RecordWriter(Protocol):
    """Writes files, and compares all bytes of their records."""

    def write(self, request: RewriteRequest) -> int:
        """Return the number of records. Raise VerificationFailed or LakekeeperError."""


class Rewriter:
    """Rewrites files with DataFrames, by a copy, or by a merge of stripes. No Python code runs on the executors."""

    def __init__(
        self, spark: SparkSession, formats: Mapping[str, SparkFormat], phases: Phases, calls: NameNodeCalls
    ) -> None:
        self._phases = phases
        self._spark = spark
        self._sessions = Sessions(spark)
        self._exact = ExactReader(spark)
        self._formats = formats
        self._text = TextBytes(spark, formats)
        self._joint = JointRewriter(spark, self._sessions, formats)
        self._arrow = ArrowRewriter(spark, self._sessions)
        self._copier = Copier(spark, formats)
        self._merger = Merger(spark)
        self._records = {name: of(spark, self._copier) for name, of in RECORD_WRITERS.items()}
        self._bytes = ByteCopies(spark, calls)
        self._hashing, self._one_nan = Hashing(spark), Hashing(spark, one_nan=True)

    @property
    def slots(self) -> int:
        """Return the number of tasks that can run at the same time."""
        return slots(self._spark)

    def encoding(self, profile: Profile, file_format: str) -> Encoding:
        """Return how the unit will be rewritten. Raise Refusal TYPE if that changes a physical type."""
        return self._formats[file_format].encoding(profile)

    def write(self, request: RewriteRequest) -> RewriteResult:
        """Write into the target directory. After an error it may hold a part of the files.

        Raises:
            Refusal: the files cannot be rewritten without a change.
            VerificationFailed: the rows that were written are not those that were read.
            LakekeeperError: Spark or Hadoop failed.
        """
        try:
            by_rows = request.encoding.engine in (Engine.SPARK, Engine.ARROW)
            return self._write(request) if by_rows else self._copy(request)
        except LakekeeperError:
            raise
        except Exception as error:
            raise explained(error, self._unreadable(error, request)) from error

    def _unreadable(self, error: Exception, request: RewriteRequest) -> str | None:
        """Return the URI of the file that could not be read, if it is known, or Spark can find it out."""
        spec = FORMATS[request.file_format]
        again = spec.read_by_spark and request.profile.struct is not None
        return unreadable(error, request.files, partial(self._read_through, request) if again else None)

    def _read_through(self, request: RewriteRequest, files: Sequence[str]) -> None:
        """Read all values of some files, and write nothing."""
        self._frame(request, files).write.format("noop").mode("overwrite").save()

    def write_jointly(self, requests: Sequence[RewriteRequest], staging: str) -> Sequence[str]:
        """Write the files of each request into a directory of its own below `staging`, in one job.

        Raises:
            LakekeeperError: Spark or Hadoop failed.
        """
        try:
            return self._joint.write(requests, staging)
        except Exception as error:
            raise explained(error) from error

    def arrow(self) -> Arrow:
        """Return whether the executors have pyarrow."""
        return self._arrow.found()

    def write_by_arrow(self, requests: Sequence[RewriteRequest], staging: str) -> JointFiles:
        """Write the files of each request into a directory of its own below `staging`. Raise LakekeeperError."""
        return self._arrow.write(requests, staging)

    def copy(self, directory: str, files: FileListing, target: str) -> Mapping[str, str]:
        """Copy files byte by byte into another directory, and return the copies by name. Raise LakekeeperError."""
        try:
            return self._bytes.copy(directory, files, target)
        except Exception as error:
            raise explained(error) from error

    def differing(self, directory: str, copies: Mapping[str, str]) -> Sequence[str]:
        """Return the names of the files of which the copies have other bytes. Raise LakekeeperError."""
        try:
            return self._bytes.differing(directory, copies)
        except Exception as error:
            raise explained(error) from error

    def same_rows(self, request: RewriteRequest, written: Sequence[str]) -> bool | None:
        """Compare the rows of the request's files with those of other files, by content hash. All NaNs are the same.

        Returns:
            None if Spark cannot read the values.

        Raises:
            Refusal, LakekeeperError: the rows cannot be read.
        """
        if request.profile.struct is None:
            return None
        try:
            schema = schema_of(request)
            before = self._one_nan.fingerprint(self._inputs(request), schema)
            return before == self._one_nan.fingerprint(self._frame(request, written), schema)
        except LakekeeperError:
            raise
        except Exception as error:
            raise explained(error) from error

    def _write(self, request: RewriteRequest) -> RewriteResult:
        schema, frame = schema_of(request), self._inputs(request)
        if not _hashed(request):
            # Spark writes each row that it reads, or fails. So rows that were left out or doubled, and columns that
            # were changed, are found when the footers of both sides are compared. To count the rows on their way would
            # find nothing more, and costs an eighth of the write.
            self._save(spread(frame, request, schema), request)
            return RewriteResult(request.profile.rows or 0)
        seen = Observation()
        self._save(self._observed(frame, seen, request, schema), request)
        hashes = self._compare(request, Fingerprint.of(seen.get))
        if not is_lines(request):
            return RewriteResult(hashes.rows)
        self._text.check(request, hashes.rows, hashes.bytes or 0)
        return RewriteResult(hashes.rows, _unsorted(request))

    def _save(self, frame: DataFrame, request: RewriteRequest) -> None:
        options = write_options(request, self._formats[request.file_format])
        set_options(frame.write.format(request.file_format), options).mode("append").save(request.target)

    def _observed(
        self, frame: DataFrame, seen: Observation, request: RewriteRequest, schema: StructType
    ) -> DataFrame:
        """Return the rows to write, with an observation of their fingerprint.

        Rows are observed as they are read, before any other step. In two cases the observation is the last step: a sort
        into several files reads its input twice, and an observation does not survive `_as_declared`.
        """
        wanted = self._hashing_of(request).aggregates(schema, is_lines(request))
        if request.encoding.exact or (
            request.sort_columns and request.target_files > 1 and not is_lines(request)
        ):
            return spread(frame, request, schema).observe(seen, *wanted)
        return spread(frame.observe(seen, *wanted), request, schema)

    def _copy(self, request: RewriteRequest) -> RewriteResult:
        if request.file_format in self._records:
            # All bytes of all records are compared, whatever was asked for.
            return RewriteResult(self._records[request.file_format].write(request), _unsorted(request))
        (self._merger if request.encoding.engine is Engine.MERGE else self._copier).write(request)
        if not _hashed(request):
            return RewriteResult(request.profile.rows or 0, _unsorted(request))
        if request.profile.struct is None:
            warning = (
                f"{request.target}: its rows were counted, not hashed, because Spark cannot read the values"
            )
            return RewriteResult(request.profile.rows or 0, [warning, *_unsorted(request)])
        seen = self._hashing_of(request).fingerprint(self._inputs(request), schema_of(request))
        return RewriteResult(self._compare(request, seen).rows, _unsorted(request))

    def _hashing_of(self, request: RewriteRequest) -> Hashing:
        return self._one_nan if request.one_nan else self._hashing  # guard: bits_of_nans_hashed

    def _compare(self, request: RewriteRequest, seen: Fingerprint) -> Fingerprint:
        """Return the fingerprint of the rows that were read.

        A task that was retried is observed twice. So the rows are read again before a difference fails the unit.

        Raises:
            VerificationFailed: other rows were written, or the footers have another number of rows.
            Refusal: NAN, the rows differ in the bits of NaNs only.
        """
        expected, schema, lines = request.profile.rows, schema_of(request), is_lines(request)
        hashing = self._hashing_of(request)
        written = hashing.fingerprint(self._frame(request, [request.target]), schema, lines)
        if seen != written or expected not in (None, seen.rows):
            seen = hashing.fingerprint(self._inputs(request), schema, lines)
        if expected not in (None, seen.rows):  # guard: rows_read_compared
            raise VerificationFailed(f"the footers hold {expected} rows, but {seen.rows} were read")
        if seen != written:  # guard: hashes_compared
            self._refuse_changed_nans(request)
            raise VerificationFailed(f"what was written is not what was read: {written} instead of {seen}")
        return seen

    def _refuse_changed_nans(self, request: RewriteRequest) -> None:
        """Raise Refusal if the rows that were read and written differ in the bits of NaNs only.

        The writers of Parquet and ORC replace each NaN by Java's own.
        """
        if not request.one_nan and self.same_rows(request, [request.target]):
            raise Refusal(
                RefusalCode.NAN,
                f"{request.directory} has NaNs with other bits than Java's, which the writer replaces",
            )

    def _inputs(self, request: RewriteRequest) -> DataFrame:
        """Return the rows of exactly the input files."""
        with self._phases.during("read"):
            return self._exact.read(self._reader(request), {request.directory: request.inputs})

    def _frame(self, request: RewriteRequest, paths: Sequence[str]) -> DataFrame:
        """Return the rows of these files, or of all files of these directories."""
        return self._exact.paths(self._reader(request), paths)

    def _reader(self, request: RewriteRequest) -> DataFrameReader:
        settings = {
            **request.encoding.settings,
            **LISTED_BY_DRIVER,
            "spark.sql.files.maxPartitionBytes": str(request.target_bytes),
            **(scan_settings(request.read_tasks) if request.shuffled else {}),
        }
        session = self._sessions.get(settings)
        reader = session.read.format(request.file_format).schema(schema_of(request))
        return reader.options(**self._formats[request.file_format].options)


#: What copies the formats whose files do not count their records, and compares all bytes of all of them.
RECORD_WRITERS: Mapping[str, Callable[[SparkSession, Copier], _RecordWriter]] = {
    AVRO: lambda spark, _: AvroAppender(spark),
    SEQUENCE: SequenceCopier,
}


def _hashed(request: RewriteRequest) -> bool:
    """Tell whether contents are compared: on request, and always for files that do not count their rows (text)."""
    return request.hashed or request.profile.rows is None


def _unsorted(request: RewriteRequest) -> list[str]:
    return (
        [
            f"the rows are not sorted by {', '.join(request.sort_columns)}: files that are copied record by record,"
            " line by line or stripe by stripe cannot be sorted"
        ]
        if request.sort_columns
        else []
    )
