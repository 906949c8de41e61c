"""Guards of what is decided about a table before its files are read."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove

_DECIDING = "tests/unit/core/test_deciding.py"
_ANALYSIS = "tests/crash/test_analysis.py"
_SORTED = "tests/spark/test_sort_columns.py"
_FOOTERS = "tests/unit/core/test_footers.py"
_REFUSALS = "tests/spark/test_refusals.py"
_SCHEMA_FILES = "tests/spark/test_avro_schema_files.py"
_UNREADABLE = "tests/spark/test_unreadable_tables.py"
_PLACES = "tests/spark/test_places_of_tables.py"
_LOCATIONS = "tests/unit/core/test_locations.py"
_BATCHES = "tests/unit/core/test_partition_batches.py"
_USERS = "tests/unit/core/test_location_users.py"

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
    Mutation(
        "H31-unknown",
        "a partition on a server that nobody knows counts as one elsewhere",
        (Condition("unknown_servers_refused", False),),
        (f"{_LOCATIONS}::test_another_place_of_an_unknown_server_refuses_the_table",),
    ),
    Mutation(
        "H31-top",
        "a table is compacted whose location is the root of a file system",
        (Condition("roots_of_file_systems", False),),
        (f"{_LOCATIONS}::test_the_root_of_a_file_system_refuses_the_table",),
    ),
    Mutation(
        "H31-elsewhere",
        "originals of a dropped table are deleted although a table on an unknown server may read them",
        (Condition("unknown_places_count", False),),
        (f"{_USERS}::test_a_table_on_an_unknown_server_may_read_any_place",),
    ),
    Mutation(
        "H31-newname",
        "a partition that is renamed while partitions are read reads no directory",
        (Condition("renamed_partitions_read", True),),
        (f"{_BATCHES}::test_a_partition_that_is_renamed_meanwhile_is_read_by_its_new_name",),
    ),
    Mutation(
        "H21-renamed",
        "a table that is renamed while its partitions are read has none",
        (Remove("nothing_of_a_table"),),
        (f"{_BATCHES}::test_a_table_that_is_renamed_meanwhile_is_not_one_without_partitions",),
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
        "H54-schema",
        "Spark describes a table by a file that only the job may read",
        (Condition("schema_files_not_read", False),),
        (f"{_SCHEMA_FILES}::test_no_job_reads_it",),
        "spark",
    ),
    Mutation(
        "H54-sql",
        "Spark runs SQL on a table whose schema is in a file",
        (Condition("no_sql_on_schema_files", False),),
        (f"{_SCHEMA_FILES}::test_no_job_reads_it",),
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
        "H34-stores",
        "runs are looked for on an object store whose classes the job lacks",
        (Condition("object_stores_not_listed", False),),
        (f"{_PLACES}::test_a_file_system_whose_class_is_missing_is_refused_and_not_looked_for",),
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
