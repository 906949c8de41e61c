"""The footers of Parquet files, read by the executors of a cluster, and grouped there.

parquet-java reads them, and Spark's SQL groups them: no Python runs there. What comes to the driver does not grow with
the number of files, but for their names.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.java_errors import is_java_error, root_cause
from spark_jobs.adapters.spark.catalyst import RowCalls, text
from spark_jobs.adapters.spark.file_index import without_server
from spark_jobs.adapters.spark.formats.driver_footers import DriverFooters, FooterFile, in_batches, lengths_of
from spark_jobs.adapters.spark.formats.footer_figures import figures_of_groups
from spark_jobs.adapters.spark.formats.footer_json import footer_mapper, status_reader, statuses
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.parquet_groups import ColumnFigures, Extremes, FooterGroup, footer_of
from spark_jobs.core.formats.parquet_statistics import Order
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

log = logging.getLogger("lakekeeper")

#: The files of a task. All their footers are in its memory at once.
_BATCH = 500
_JACKSON = "com.fasterxml.jackson.databind"
_READER = "org.apache.parquet.hadoop.ParquetFileReader"


class ExecutorFooters:
    """Reads footers by a job, in batches of files."""

    def __init__(self, spark: SparkSession, conf: Any, driver: DriverFooters, calls: NameNodeCalls) -> None:
        self._job = _Job(spark, conf)
        self._driver = driver
        self._calls = calls

    def read(
        self, files: Sequence[FooterFile]
    ) -> Iterator[tuple[Sequence[FooterFile], list[tuple[int, list[Footer]]] | None]]:
        """Yield each batch of files with its footers by directory.

        They are None where a file cannot be read or is a reason for a refusal: the driver finds out which and why.
        """
        batches = in_batches(files, _BATCH)
        self._calls.add(files[0].uri, len(files))
        found = self._groups(batches)
        for number, batch in enumerate(batches):
            yield batch, self._footers(batch, found.pop(number, []))

    def _groups(self, batches: Sequence[Sequence[FooterFile]]) -> dict[int, list[tuple[str, FooterGroup]]]:
        """Return the groups of each batch; none if the job fails, because the driver may be able to read the files."""
        try:
            return self._job.groups([lengths_of(batch) for batch in batches])
        except Exception as error:
            if not is_java_error(error):
                raise
            log.warning("the executors could not read the footers, the driver does: %s", root_cause(error)[1])
            return {}

    def _footers(
        self, batch: Sequence[FooterFile], groups: Sequence[tuple[str, FooterGroup]]
    ) -> list[tuple[int, list[Footer]]] | None:
        """Return the footers of groups by directory; None if they are not those of exactly the files of a batch."""
        left = {without_server(file.uri): position for position, file in enumerate(batch)}
        footers = []
        for place, group in groups:
            positions = [left.pop(f"{without_server(place)}/{name}", -1) for name in group.names]
            if -1 in positions:
                return None
            if not group.plain:  # guard: refusals_of_groups
                return None
            files = [batch[position] for position in sorted(positions)]
            named = group._replace(names=tuple(file.entry.name for file in files))
            reading = self._driver.reading(group.schema, files[0])
            footers.append((files[0].directory, [footer_of(named, reading.struct, reading.problem)]))
        return None if left else footers  # guard: footers_of_all_files


class _Job(RowCalls):
    """Reads the footers of lists of files, one list in a task, and groups them."""

    def __init__(self, spark: SparkSession, conf: Any) -> None:
        super().__init__(spark, {"task": text(0), "files": text(1)}, hadoop=conf)

    def groups(self, lists: Sequence[Mapping[str, int]]) -> dict[int, list[tuple[str, FooterGroup]]]:
        """Return the footers of files by the number of the list and by group, each with the directory of its files.

        A list is missing if one of its files cannot be read.

        Args:
            lists: the URIs of files, with their lengths in bytes.
        """
        rows = [(number, statuses(lengths)) for number, lengths in enumerate(lists)]
        footers = DataFrame(self._table(rows).select(self._read), self._spark)
        groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in figures_of_groups(footers).collect():
            groups[row.task, row.kind].append(row)
        by_list: defaultdict[int, list[tuple[str, FooterGroup]]] = defaultdict(list)
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
        statuses = self.invoke(reader, "readValue", "java.util.List", files)
        footers = self.static(_READER, "readAllFootersInParallel", "java.util.List", self.conf(), statuses)
        written = self.invoke(mapper, "writeValueAsString", "java.lang.String", footers)
        return self.tried(
            self.static("org.apache.spark.unsafe.types.UTF8String", "fromString", "string", written)
        )


def _group(rows: Sequence[Row]) -> tuple[str, FooterGroup]:
    """Return a group of its rows. Each has the figures of a column; one or several also those of files."""
    of_files = [row for row in rows if row.names]
    about = of_files[0]
    group = FooterGroup(
        names=tuple(name for row in of_files for name in row.names),
        schema=about.schema,
        writer=json.loads(about.writer),
        created_by=about.created_by,
        rows=sum(row.rows for row in of_files),
        blocks=sum(row.blocks for row in of_files),
        row_group=max(row.row_group for row in of_files),
        blooms=frozenset(path[1:-1].replace(", ", ".") for path in about.blooms),
        columns=[_column(row) for row in rows if row.path is not None],
    )
    return about.place, group


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
        encrypted=row.encrypted,
        extremes={order: Extremes(*found) for order, found in extremes.items() if found is not None},
    )
