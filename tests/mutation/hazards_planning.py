"""Guards of what is decided about a table before its files are read."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition

_DECIDING = "tests/unit/core/test_deciding.py"
_ANALYSIS = "tests/crash/test_analysis.py"
_SORTED = "tests/spark/test_sort_columns.py"
_FOOTERS = "tests/unit/core/test_footers.py"
_REFUSALS = "tests/spark/test_refusals.py"
_UNREADABLE = "tests/spark/test_unreadable_tables.py"

PLANNING = (
    Mutation(
        "H15-unreadable",
        "files with types that Spark cannot read are compacted",
        (Condition("types_that_spark_has", False),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H36-unknown",
        "files are rewritten with a codec that nobody writes",
        (Condition("codecs_that_spark_has", False),),
        (f"{_FOOTERS}::test_a_declared_codec_that_nobody_writes_is_refused_with_its_property",),
    ),
    Mutation(
        "H30-name",
        "a directory is compacted beside which there is no room for a longer name",
        (Condition("names_that_fit", False),),
        (f"{_ANALYSIS}::TestLongNames::test_of_a_flat_table_are_refused_with_their_length",),
    ),
    Mutation(
        "H30-path",
        "a directory is compacted whose originals would have too long a path",
        (Condition("paths_that_fit", False),),
        (
            f"{_ANALYSIS}::TestLongNames::test_a_path_whose_originals_would_have_a_longer_one_than_the_server_allows",
        ),
    ),
)

#: Those that only a real Spark and a real metastore can tell.
OF_THE_METASTORE = (
    Mutation(
        "H34-handler",
        "the class of a storage handler is loaded before the table is refused",
        (Condition("handlers_not_loaded", False),),
        (f"{_UNREADABLE}::test_the_classes_of_a_storage_handler_are_not_even_looked_for",),
        "spark",
    ),
    Mutation(
        "H21-unreadable",
        "a metastore that does not answer makes a table one that Spark cannot read",
        (Condition("unreadable_is_no_outage", False),),
        (f"{_UNREADABLE}::test_a_metastore_that_is_away_makes_no_table_unreadable",),
        "spark",
    ),
    Mutation(
        "H36-class",
        "files are rewritten with a codec whose class is missing",
        (Condition("classes_of_codecs", False),),
        (f"{_REFUSALS}::test_a_declared_codec_that_cannot_be_written_is_named_by_the_analysis",),
        "spark",
    ),
    Mutation(
        "H36-nameless",
        "files without names of columns are to be sorted by one",
        (Condition("sorted_by_name", False),),
        (f"{_SORTED}::test_files_with_names_of_hive_1_are_refused",),
        "spark",
    ),
)
