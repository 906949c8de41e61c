"""The footers of Parquet files, read by the executors of a cluster, and grouped there.

parquet-java reads them, and Spark's SQL groups them: no Python runs there. The driver gets the names of the files, and
for each task a row for each column, codec and kind of files.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.java_errors import is_java_error, root_cause
from spark_jobs.adapters.spark.bounded_jobs import BoundedJobs, NoExecutor
from spark_jobs.adapters.spark.catalyst import RowCalls, text
from spark_jobs.adapters.spark.formats.driver_footers import DriverFooters, FooterFile, in_batches, lengths_of
from spark_jobs.adapters.spark.formats.footer_figures import figures_of_groups
from spark_jobs.adapters.spark.formats.footer_json import footer_mapper, status_reader, statuses
from spark_jobs.adapters.spark.sessions import statement_session
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.parquet_groups import ColumnFigures, Extremes, FooterGroup, footer_of
from spark_jobs.core.formats.parquet_json import columns_of
from spark_jobs.core.formats.parquet_statistics import Order
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

log = logging.getLogger("lakekeeper")

#: The files of a task, and the columns of all their row groups, which are in its memory at once.
_BATCH, _MOST_COLUMNS = 500, 20_000
#: The files of a job, and the rows of its answer if all files are of one kind: one for each column of a task.
_OF_A_JOB, _ROWS = 50_000, 50_000
#: The characters of an answer, which is in the driver's memory at once. With files of many kinds it has more rows.
_MOST_TEXT = 100_000_000
#: With fewer files in a job, as of wide tables and small partitions, it is not worth its start.
_LEAST = 1000
#: Seconds to wait for executors: where the queue has room, they start within a minute.
_PATIENCE = 120.0
#: Half a result would be taken for a whole one.
_SETTINGS = {"spark.sql.json.enablePartialResults": "false"}
#: No executor, and what PySpark raises for an answer of another form.
_FAILURES = (NoExecutor, AttributeError, LookupError, TypeError, ValueError)
_WHAT = "read the footers of files"
#: A batch of files, and its footers by directory; None where the driver has to look at the files.
Answer = tuple[Sequence[FooterFile], "list[tuple[int, list[Footer]]] | None"]
_JACKSON = "com.fasterxml.jackson.databind"
_READER = "org.apache.parquet.hadoop.ParquetFileReader"


class ExecutorFooters:
    """Reads footers by jobs, in batches of files."""

    def __init__(self, spark: SparkSession, conf: Any, driver: DriverFooters, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._conf = conf
        self._driver = driver
        self._calls = calls
        self._bounded = BoundedJobs(spark, _PATIENCE)

    @cached_property
    def _job(self) -> _Job:
        """Made when it is needed: most jobs have fewer files."""
        session = statement_session(self._spark)
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        return _Job(session, self._conf)

    def read(self, files: Sequence[FooterFile]) -> Iterator[Answer]:
        """Yield batches of files, each in one directory, with their footers in the order of their first files.

        They are None where a file cannot be read or is a reason for a refusal: the driver finds out which and why.
        """
        leaves = max(1, self._driver.leaves(files[0]))
        size, tasks = min(_BATCH, _MOST_COLUMNS // leaves), _ROWS // leaves
        parts = [_by_directory(part, max(1, size)) for part in in_batches(files, _OF_A_JOB)]
        works = tasks * len(files) >= _LEAST * sum(map(len, parts))
        for batches in chain.from_iterable(in_batches(part, max(1, tasks)) for part in parts):
            groups = self._groups(batches) if works else None
            works = groups is not None
            yield from [(batch, None) for batch in batches] if groups is None else groups

    def _groups(self, batches: Sequence[Sequence[FooterFile]]) -> list[Answer] | None:
        """Return the footers of each batch; None if the job fails, because the driver may be able to read the files."""
        self._calls.add(batches[0][0].uri, sum(map(len, batches)))
        try:
            found = self._bounded.run(lambda: self._job.groups(list(map(lengths_of, batches))), _WHAT)
        except Exception as error:
            if not is_java_error(error) and not isinstance(error, _FAILURES):
                raise
            why = root_cause(error)[1] if is_java_error(error) else error
            log.warning("the executors could not read the footers, the driver does: %s", why)
            return None
        return [(batch, self._footers(batch, found.get(number, []))) for number, batch in enumerate(batches)]

    def _footers(
        self, batch: Sequence[FooterFile], groups: Sequence[FooterGroup]
    ) -> list[tuple[int, list[Footer]]] | None:
        """Return the footers of groups; None if they are not those of exactly the files of a batch."""
        left = {file.entry.name: position for position, file in enumerate(batch)}
        footers = []
        for group in groups:
            positions = sorted(left.pop(name, -1) for name in group.names)
            if positions[0] < 0:
                return None
            if not group.plain:  # guard: refusals_of_groups
                return None
            reading = self._driver.reading(group.schema, batch[positions[0]])
            if reading is None:
                return None
            named = group._replace(names=tuple(batch[position].entry.name for position in positions))
            footers.append((positions[0], footer_of(named, reading.struct, reading.problem)))
        in_order = [footer for _, footer in sorted(footers, key=lambda each: each[0])]
        return None if left else [(batch[0].directory, in_order)]  # guard: footers_of_all_files


def _by_directory(files: Sequence[FooterFile], size: int) -> list[Sequence[FooterFile]]:
    """Return batches of at most so many files, each of files of one directory that are listed one after another."""
    listed = (list(part) for _, part in groupby(files, lambda file: file.directory))
    return [batch for part in listed for batch in in_batches(part, size)]


class _Job(RowCalls):
    """Reads the footers of lists of files, one list in a task, and groups them."""

    def __init__(self, spark: SparkSession, conf: Any) -> None:
        super().__init__(spark, {"task": text(0), "files": text(1)}, hadoop=conf)

    def groups(self, lists: Sequence[Mapping[str, int]]) -> dict[int, list[FooterGroup]]:
        """Return the footers of files by the number of the list and by group. All files of a list are in one directory.

        A list is missing if one of its files cannot be read, or if its share of the answer would be too large.

        Args:
            lists: the URIs of files, with their lengths in bytes.
        """
        rows = [(number, statuses(lengths)) for number, lengths in enumerate(lists)]
        footers = DataFrame(self._table(rows).select(self._read), self._spark)
        groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in figures_of_groups(footers, _MOST_TEXT // len(lists)).collect():
            groups[row.task, row.kind].append(row)
        by_list: defaultdict[int, list[FooterGroup]] = defaultdict(list)
        for (task, _), parts in groups.items():
            by_list[int(task)].append(_group(parts))
        return dict(by_list)

    @cached_property
    def _read(self) -> Any:
        """The number of the task, and the footers as JSON; null if one cannot be read."""
        return self._named({"task": F.col("task"), "footers": Column(self.as_column(self._footers()))})

    def _footers(self) -> Any:
        files = self.invoke(self.column("files"), "toString", "java.lang.String")
        reader = self.literal(status_reader(self._jvm), f"{_JACKSON}.ObjectReader")
        mapper = self.literal(footer_mapper(self._gateway), f"{_JACKSON}.ObjectMapper")
        listed = self.invoke(reader, "readValue", "java.util.List", files)
        footers = self.static(_READER, "readAllFootersInParallel", "java.util.List", self.conf(), listed)
        written = self.invoke(mapper, "writeValueAsString", "java.lang.String", footers)
        return self.tried(
            self.static("org.apache.spark.unsafe.types.UTF8String", "fromString", "string", written)
        )


def _group(rows: Sequence[Row]) -> FooterGroup:
    """Return a group of its rows. Each has the figures of a column; one or several also those of files.

    Raises:
        TypeError: a property that each footer has is missing: a text was too long for the parser.
    """
    of_files = [row for row in rows if row.names]
    about = of_files[0]
    if about.schema is None or about.writer is None:
        raise TypeError("a footer without a schema or the metadata of its writer")
    return FooterGroup(
        names=tuple(name for row in of_files for name in row.names),
        schema=about.schema,
        writer=json.loads(about.writer),
        created_by=about.created_by,
        rows=sum(row.rows for row in of_files),
        blocks=sum(row.blocks for row in of_files),
        row_group=max(row.row_group for row in of_files),
        blooms=columns_of(about.blooms),
        columns=[
            _column(row)
            for row in sorted(rows, key=lambda row: (row.path or "", row.codec or ""))
            if row.path
        ],
    )


def _column(row: Row) -> ColumnFigures:
    extremes = {order: row[order.value] for order in Order}
    return ColumnFigures(
        path=row.path,
        codec=row.codec,
        size=row.size,
        chunks=row.chunks,
        entries=row.entries,
        non_null=row.non_null,
        one_per_row=row.one_per_row,
        possible=row.possible,
        encrypted=row.encrypted,
        extremes={order: Extremes(*found) for order, found in extremes.items() if found is not None},
    )
