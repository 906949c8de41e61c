"""Guards of writes of several units in one job. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Replace, Value

_JOINT = "tests/crash/test_joint_writes.py"

JOINT = (
    Mutation(
        "H29-joint",
        "the rows of a unit of a joint write are not counted",
        (Replace("joint_unit_compared", "warnings = []"),),
        (f"{_JOINT}::test_a_unit_that_lost_a_row_in_a_joint_write_is_written_by_itself",),
    ),
    Mutation(
        "H38-joint",
        "files that were not compared go live with those of a joint write",
        (Condition("joint_files_only", False),),
        (f"{_JOINT}::test_a_file_that_was_not_compared_does_not_go_live",),
    ),
    Mutation(
        "H24-joint",
        "units with other policies are written into one directory",
        (Value("joint_inherited", "None"),),
        (f"{_JOINT}::test_units_with_other_storage_policies_are_not_written_into_one_directory",),
    ),
    Mutation(
        "H24-staging",
        "others may read the files of a joint write before they have their attributes",
        (Remove("joint_staging_closed"),),
        (f"{_JOINT}::test_nobody_else_reads_a_joint_write",),
    ),
)
