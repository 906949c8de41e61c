"""Guards of directories to which HDFS ties more than files. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Edit, Mutation

_GROUND = "spark_jobs/shell/stages/ground.py"
_QUOTA = "spark_jobs/core/quota.py"
_PLACES = "tests/crash/test_guards_ground.py::TestPlaces"
_ROOM = "tests/crash/test_guards_ground.py::TestRoom"
_ROOTS = f"{_PLACES}::test_a_root_of_something_is_refused_before_anything_is_written"

GROUND = (
    Mutation(
        "H11-root",
        "the root of an encryption zone is taken for any other directory",
        (Edit(_GROUND, "if zone != around:", "if False:"),),
        (_ROOTS,),
    ),
    Mutation(
        "H25-snapshots",
        "a directory that may have snapshots is taken for any other",
        (Edit(_GROUND, "if self._fs.snapshottable(location):", "if False:"),),
        (_ROOTS,),
    ),
    Mutation(
        "H24-quota",
        "a directory with a quota of its own is taken for any other",
        (Edit(_GROUND, "if self._fs.quota(location) is not None:", "if False:"),),
        (_ROOTS,),
    ),
    Mutation(
        "H26-room",
        "what is written is not compared with what quotas leave",
        (Edit(_QUOTA, "if limit is not None and used + wanted > limit:", "if False:"),),
        (f"{_ROOM}::test_a_quota_above_that_is_too_small_is_named_with_what_is_missing",),
    ),
    Mutation(
        "H26-shared",
        "each unit has the room of a quota for itself",
        (Edit(_GROUND, "claimed.get(quota.folder, RUN) + own", "RUN + own"),),
        (f"{_ROOM}::test_units_below_one_quota_share_its_room",),
    ),
    Mutation(
        "H26-peak",
        "an open file is not charged a whole block",
        (Edit(_QUOTA, "self.space + at_once * self.space_meanwhile", "self.space"),),
        (f"{_ROOM}::test_open_files_are_charged_a_whole_block_in_all_units_at_work",),
    ),
    Mutation(
        "H26-once",
        "the units that are written side by side have one room",
        (Edit(_QUOTA, "self.space + at_once * self.space_meanwhile", "self.space + self.space_meanwhile"),),
        (f"{_ROOM}::test_open_files_are_charged_a_whole_block_in_all_units_at_work",),
    ),
)
