"""Guards of what is decided about a table before its files are read."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition

_DECIDING = "tests/unit/core/test_deciding.py"
_UNREADABLE = "tests/spark/test_unreadable_tables.py"

PLANNING = (
    Mutation(
        "H15-unreadable",
        "files with types that Spark cannot read are compacted",
        (Condition("types_that_spark_has", False),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
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
)
