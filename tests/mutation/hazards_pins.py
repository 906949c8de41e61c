"""Settings that are pinned: a mutation for each entry of each table of them, made from the code.

A new entry has a mutation by itself, which fails until the test of its table knows the entry.
"""

from __future__ import annotations

from demo.services import paths
from tests.mutation.guards import Product, Sources
from tests.mutation.mutation import Mutation
from tests.mutation.operators import Without, entries

_PINS = "tests/spark/test_pins.py"
#: The test of each entry, by the mark of the table.
_TESTS = {
    "pinned_settings": f"{_PINS}::test_data_is_read_and_written_by_the_pinned_setting",
    "statements_pinned": f"{_PINS}::test_sql_text_is_read_by_the_pinned_setting",
    "committer_pinned": f"{_PINS}::test_files_are_written_by_the_pinned_setting",
    "nothing_filtered": f"{_PINS}::test_no_filter_of_the_cluster_is_asked_while_records_are_copied",
    "damage_not_skipped": f"{_PINS}::test_records_are_copied_by_the_pinned_setting",
    "orc_pinned": f"{_PINS}::test_orc_files_are_written_by_the_pinned_setting",
}
#: Pins that differ from the default on Spark 4 only, where no mutation runs.
_ON_SPARK_4 = {("statements_pinned", "spark.sql.ansi.enabled")}


def _of_table(product: Product, mark: str) -> list[Mutation]:
    return [
        Mutation(
            f"H56-{mark}-{entry}",
            f"the cluster's {entry} is obeyed",
            (Without(mark, entry),),
            (f"{_TESTS[mark]}[{entry}]",),
            "spark",
        )
        for entry in entries(product.guard(mark))
        if (mark, entry) not in _ON_SPARK_4
    ]


def _all() -> tuple[Mutation, ...]:
    product = Product(Sources(paths.ROOT))
    return tuple(mutation for mark in _TESTS for mutation in _of_table(product, mark))


#: Options of readers, each of which has a test of its own.
_OF_READERS = (
    Mutation(
        "H56-line-ends",
        "a line ends where Spark likes",
        (Without("no_line_is_skipped", "lineSep"),),
        ("tests/fidelity/test_text_rows.py::test_plain_text_is_compacted",),
        "spark",
    ),
    Mutation(
        "H56-patterns",
        "the path of a unit is a pattern for Spark",
        (Without("listed_literally", "__globPaths__"),),
        (
            "tests/spark/test_exact_reading.py::test_a_directory_with_the_files_of_the_manifest_is_listed_once",
        ),
        "spark",
    ),
)
PINS_ON_SPARK = (*_all(), *_OF_READERS)
