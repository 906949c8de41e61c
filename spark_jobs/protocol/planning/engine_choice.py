"""Which engine writes a unit: Spark, unless the options ask for Arrow and nothing of the unit speaks against it."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.core.formats import arrow
from spark_jobs.core.formats.encoding import Engine
from spark_jobs.core.formats.registry import PARQUET
from spark_jobs.core.formats.writer_options import writer_options
from spark_jobs.core.options.rewriting import AUTO, SPARK
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.rules.sort_columns import sort_columns_of
from spark_jobs.protocol.planning.inspection import FileGroup, Inspection

#: With `auto`, so many small files of a table are worth the start of Python on the executors.
_WORTHWHILE = 1_000


def with_engine(table: TablePlan, inspection: Inspection) -> Inspection:
    """Return the inspection with Arrow as the engine, or with the reason why it is not.

    It is returned as it is where no file is written: only files without rows go away.
    """
    if table.options.engine == SPARK or not inspection.groups:
        return inspection
    obstacle = _obstacle(table, inspection)
    return replace(inspection, not_arrow=obstacle) if obstacle else inspection.written_by(Engine.ARROW)


def _obstacle(table: TablePlan, inspection: Inspection) -> str | None:
    """Return why Spark writes the unit; None if Arrow does."""
    if table.file_format != PARQUET:
        return "Arrow writes Parquet files only"
    if len(inspection.groups) > 1 or inspection.copied:
        return "its files are written in several parts"
    if table.options.engine == AUTO and table.flagged_files < _WORTHWHILE:
        return f"the table has fewer than {_WORTHWHILE} files to rewrite"
    return _obstacle_of(table, inspection.groups[0])


def _obstacle_of(table: TablePlan, group: FileGroup) -> str | None:
    if group.encoding.engine is not Engine.SPARK:
        return "its records are copied"
    if max(file.length for file in group.files.data) > arrow.LARGEST_FILE:  # guard: arrow_memory
        return f"it has a file of more than {arrow.LARGEST_FILE >> 20} MB"
    if sort_columns_of(table.facts, table.options.sort_columns):
        return "its rows are sorted"
    target_files = group.target_files(table.options.thresholds())
    if group.files.bytes > arrow.LARGEST_NEW_FILE * target_files:  # guard: arrow_output
        return f"its new files have more than {arrow.LARGEST_NEW_FILE >> 20} MB"
    if len(group.files.data) > arrow.MOST_FILES * target_files:
        return f"more than {arrow.MOST_FILES} files become one"
    options = writer_options(group.profile, table.file_format, table.facts.properties, target_files)
    return arrow.obstacle(group.profile, options)
