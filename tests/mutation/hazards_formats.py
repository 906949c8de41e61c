"""Guards of what one format alone has: metadata, and files of several schemas."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition

_METADATA = "tests/unit/core/test_avro_metadata.py"

FORMATS = (
    Mutation(
        "H15-metadata",
        "metadata that no copy carries is lost",
        (Condition("unknown_metadata_refused", False),),
        (f"{_METADATA}::test_keys_that_only_say_how_dates_are_meant_pass_and_all_others_are_refused",),
    ),
    Mutation(
        "H14-metadata",
        "the metadata of one file says how the dates of all are meant",
        (Condition("metadata_agrees", False),),
        (f"{_METADATA}::test_files_that_differ_in_it_are_refused",),
    ),
    Mutation(
        "H15-carried",
        "nobody looks whether the metadata was carried",
        (Condition("metadata_compared", False),),
        (f"{_METADATA}::test_what_was_written_must_have_it",),
    ),
)
