"""Guards of directories to which HDFS ties more than files. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Rewrite

_PLACES = "tests/crash/test_guards_ground.py::TestPlaces"
_ROOM = "tests/crash/test_guards_ground.py::TestRoom"
_ROOTS = f"{_PLACES}::test_a_root_of_something_is_refused_before_anything_is_written"

GROUND = (
    Mutation(
        "H11-root",
        "the root of an encryption zone is taken for any other directory",
        (Condition("encryption_zone_root", False),),
        (_ROOTS,),
    ),
    Mutation(
        "H25-snapshots",
        "a directory that may have snapshots is taken for any other",
        (Condition("snapshottable_root", False),),
        (_ROOTS,),
    ),
    Mutation(
        "H24-quota",
        "a directory with a quota of its own is taken for any other",
        (Condition("quota_root", False),),
        (_ROOTS,),
    ),
    Mutation(
        "H26-room",
        "what is written is not compared with what quotas leave",
        (Condition("quota_room", False),),
        (f"{_ROOM}::test_a_quota_above_that_is_too_small_is_named_with_what_is_missing",),
    ),
    Mutation(
        "H26-shared",
        "each unit has the room of a quota for itself",
        (Rewrite("quota_shared", "C.get(F, R) + N", "R + N"),),
        (f"{_ROOM}::test_units_below_one_quota_share_its_room",),
    ),
    Mutation(
        "H26-peak",
        "an open file is not charged a whole block",
        (Rewrite("quota_peak", "(A + N * B, C + N * D)", "(A + N * B, C)"),),
        (f"{_ROOM}::test_open_files_are_charged_a_whole_block_in_all_units_at_work",),
    ),
    Mutation(
        "H26-once",
        "the units that are written side by side have one room",
        (Rewrite("quota_peak", "(A + N * B, C + N * D)", "(A + N * B, C + D)"),),
        (f"{_ROOM}::test_open_files_are_charged_a_whole_block_in_all_units_at_work",),
    ),
)
