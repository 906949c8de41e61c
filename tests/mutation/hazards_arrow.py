"""Guards of units that Arrow writes. The workers' own need pyarrow, and no Spark."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Replace

_WORKER, _RULES = "tests/unit/core/test_arrow_worker.py", "tests/unit/core/test_arrow_rules.py"
_MODEL = "tests/crash/test_arrow.py"


def _hazard(name: str, what: str, edit: Operator, test: str) -> Mutation:
    return Mutation(f"H61-{name}", what, (edit,), (test,))


ARROW = (
    _hazard(
        "version",
        "files of one unit are read by several versions of pyarrow",
        Condition("one_version_of_pyarrow", False),
        f"{_WORKER}::test_another_version_of_pyarrow_than_the_others_have_writes_nothing",
    ),
    _hazard(
        "versions",
        "executors have several versions of pyarrow",
        Condition("one_pyarrow", False),
        f"{_RULES}::test_one_version_of_pyarrow_and_a_known_one_is_needed",
    ),
    _hazard(
        "length",
        "a file that was replaced after the listing is rewritten",
        Condition("arrow_lengths", False),
        f"{_WORKER}::test_each_unit_of_a_task_is_a_file_of_its_own_and_a_refused_one_is_none",
    ),
    _hazard(
        "checksums",
        "a page with other bytes than its checksum is rewritten with a new one",
        Replace("arrow_reads_checksums", "return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))"),
        f"{_WORKER}::test_a_page_with_another_checksum_is_refused",
    ),
    _hazard(
        "files",
        "a file of a unit does not reach the worker",
        Condition("arrow_all_files", False),
        f"{_WORKER}::test_a_file_that_is_missing_cannot_be_read_or_is_left_out_is_refused",
    ),
    _hazard(
        "figures",
        "rows, nulls or values are lost in the worker",
        Condition("arrow_figures", False),
        f"{_WORKER}::test_a_faulty_write_is_found_by_the_footer",
    ),
    _hazard(
        "floats",
        "readers skip rows with NaN, by bounds as Arrow writes them",
        Condition("arrow_floats", False),
        f"{_WORKER}::test_nan_by_which_readers_skip_rows_of_arrow_is_refused",
    ),
    _hazard(
        "outputs",
        "Spark writes the bytes of two Parquet files into one",
        Condition("outputs_of_a_unit_apart", True),
        f"{_RULES}::test_no_task_writes_two_files_of_one_unit",
    ),
    _hazard(
        "types",
        "types that Arrow changes are given to it",
        Condition("arrow_types", False),
        f"{_RULES}::test_types_outside_the_matrix_are_left_to_spark",
    ),
    _hazard(
        "calendar",
        "old dates of an unknown calendar are taken for Arrow's by the next compaction",
        Condition("arrow_calendar", False),
        f"{_RULES}::test_dates_of_an_unknown_calendar_are_left_to_spark",
    ),
    _hazard(
        "memory",
        "a file that does not fit into the memory of a worker is given to it",
        Condition("arrow_memory", False),
        f"{_RULES}::test_large_files_sorted_rows_and_several_schemas_are_left_to_spark",
    ),
    _hazard(
        "output",
        "a new file that does not fit into the memory of a worker is written by it",
        Condition("arrow_output", False),
        f"{_RULES}::test_very_large_new_files_and_very_many_old_ones_are_left_to_spark",
    ),
    _hazard(
        "schema",
        "files have another schema than before, and the same types",
        Condition("arrow_schema_compared", False),
        f"{_RULES}::test_the_written_footers_are_those_of_the_originals",
    ),
    _hazard(
        "metadata",
        "the calendar that Spark has noted is lost",
        Condition("arrow_metadata_compared", False),
        f"{_RULES}::test_the_written_footers_are_those_of_the_originals",
    ),
    _hazard(
        "hash",
        "values differ, with the same figures in the footers",
        Condition("arrow_hashed", False),
        f"{_MODEL}::test_other_values_are_found_where_all_are_compared",
    ),
)
