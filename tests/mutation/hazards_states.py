"""Guards of states that only a person, or a property, may end; and of what is read again after a wait."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite, Value

_ABANDONED = "tests/crash/test_abandoned_folders.py"
_DROPPED = "tests/crash/test_dropped_tables.py"
_FOLLOWED = "tests/crash/test_followed_messages.py"
_FORGET = "tests/crash/test_forget.py"
_LOCATIONS = "tests/crash/test_exits_of_locations.py"
_LOST_PARTITIONS = "tests/crash/test_dropped_partitions.py"
_MISSING = "tests/crash/test_rollback_without_live.py"

_RUNS = "tests/crash/test_exits_of_runs.py"

STATES = (
    Mutation(
        "H2-abandoned",
        "a folder without a journal is deleted although it holds originals",
        (Condition("abandoned_holds_nothing_else", False),),
        (f"{_ABANDONED}::test_one_that_holds_anything_else_is_kept_and_reported",),
    ),
    Mutation(
        "H38-abandoned",
        "a folder without a journal is deleted while tasks write to it",
        (Condition("abandoned_is_old", False),),
        (f"{_ABANDONED}::test_one_that_may_still_be_written_to_is_kept",),
    ),
    Mutation(
        "H2-location",
        "a cleanup by location takes the originals of a table that is there",
        (Remove("location_of_table"),),
        (f"{_DROPPED}::test_the_location_of_a_table_is_refused",),
    ),
    Mutation(
        "H2-used",
        "a cleanup by location takes the only copy of a directory that another table reads",
        (Value("directories_in_use", "{}"),),
        (
            f"{_LOCATIONS}::TestUsedAgain::test_originals_stay_when_a_live_directory_has_lost_files",
            f"{_LOCATIONS}::TestUsedAgain::test_partitions_that_stayed_when_the_root_was_moved_keep_their_only_copy",
        ),
    ),
    Mutation(
        "H5-open-intent",
        "a person forgets a swap that the next job would finish",
        (Condition("open_intent_not_forgotten", False),),
        (f"{_RUNS}::TestRecreated::test_while_its_writer_is_not_known_the_intent_is_not_forgotten",),
    ),
    Mutation(
        "H5-outdated",
        "originals of an earlier run are put back although a later one has the rows",
        (Condition("only_newest_originals", False),),
        (f"{_FOLLOWED}::test_outdated_originals_are_not_put_back_where_the_live_directory_was_deleted",),
    ),
    Mutation(
        "H2-forget",
        "a person forgets by its location a swap of a table that exists",
        (Value("forget_dropped_only", "dropped_tables(job.services, job.layers, root)"),),
        (f"{_FOLLOWED}::test_forget_by_location_does_not_end_runs_of_a_table_that_exists",),
    ),
    Mutation(
        "H31-intent",
        "a table is compacted over the open swap of another table at its location",
        (Condition("intent_of_another_table", False),),
        (f"{_FOLLOWED}::test_a_late_file_in_the_originals_of_a_twin_stays_a_row_of_the_table",),
    ),
    Mutation(
        "H5-unreadable",
        "the way out of a run that cannot be read moves its originals away, whose live directory is missing",
        (Value("only_originals_named", "Remains()"),),
        (f"{_RUNS}::TestUnreadable::test_the_originals_go_back_before_the_run_is_moved_away[cleanup]",),
    ),
    Mutation(
        "H2-home",
        "the home of a dropped table is deleted with rows in it",
        (Condition("home_of_records_only", False),),
        (f"{_DROPPED}::test_a_home_that_holds_anything_else_is_kept",),
    ),
    Mutation(
        "H5-quarantined",
        "a unit that is quarantined is compacted by the next run",
        (Remove("unresolved_left_alone"),),
        (
            "tests/crash/test_guards_again.py::TestQuarantine::test_the_unit_is_left_alone_by_the_next_compactions",
        ),
    ),
    Mutation(
        "H5-forgotten",
        "a recovery deletes what is left of a swap that a person has taken over",
        (Condition("forgotten_left_alone", False),),
        (f"{_FORGET}::test_a_recovery_leaves_the_directories_of_a_forgotten_swap_alone",),
    ),
    Mutation(
        "H6-deleted",
        "a rollback moves originals into the place of a directory that a writer is just replacing",
        (Remove("rollback_without_live"),),
        (f"{_MISSING}::test_a_writer_that_has_staged_its_files_is_not_forestalled",),
    ),
    Mutation(
        "H19-stalled",
        "the time in which the server answers nobody counts as the silence of a lease's owner",
        (Value("stalled_server", "answered if latest != seen else since"),),
        (
            "tests/crash/test_guards_jobs.py::TestOtherJobs::test_an_owner_whose_heartbeat_waits_for_the_server_is_not_taken_over",
        ),
    ),
    Mutation(
        "H19-read",
        "the metastore is not read again after the wait for a lease",
        (Remove("read_again_after_wait"),),
        ("tests/crash/test_recovery_in_jobs.py::test_the_table_is_read_again_after_the_wait_for_a_lease",),
    ),
    Mutation(
        "H31-back",
        "a rollback moves originals to where the metastore has no unit any more",
        (Condition("rollback_location", True),),
        ("tests/crash/test_exits_of_partitions.py::TestMoved::test_and_rolled_back",),
    ),
    Mutation(
        "H31-renamed",
        "a partition that was renamed during a swap is taken for one that was dropped",
        (Rewrite("renamed_still_registered", "A or B", "A"),),
        (
            "tests/crash/test_exits_of_partitions.py::TestRenamed::test_between_the_renames_of_a_swap_keeps_its_rows",
        ),
    ),
    Mutation(
        "H50-dropped",
        "a partition that was dropped with its directory after a kill comes back with the recovery of a compaction",
        (Condition("dropped_stays_dropped_forward", False),),
        (f"{_LOST_PARTITIONS}::TestDroppedWithItsDirectory::test_its_rows_stay_away[compact]",),
    ),
    Mutation(
        "H50-parents",
        "a partition stays away because the metastore has deleted the directories above it",
        (Remove("parents_made_again"),),
        (
            "tests/crash/test_purging_discovery.py"
            "::test_after_a_kill_between_the_renames_the_next_job_makes_the_directories_again",
        ),
    ),
    Mutation(
        "H50-missing",
        "the originals of a partition that discovery drops during its rollback stay hidden",
        (Rewrite("missing_comes_back", "A or B", "B"),),
        (
            f"{_LOST_PARTITIONS}::TestDroppedByDiscovery"
            "::test_a_rollback_of_a_partition_without_a_directory_that_dies_is_finished",
        ),
    ),
    Mutation(
        "H50-while",
        "a partition that was dropped with its directory before its rollback is prepared comes back",
        (Rewrite("missing_while_registered", "A and B", "A"),),
        (
            f"{_LOST_PARTITIONS}::TestDroppedWithItsDirectory::test_its_rows_stay_away_from_a_rollback_that_has_begun",
        ),
    ),
    Mutation(
        "H50-retention",
        "a cleanup deletes the only copy of rows in the job that first says where they are",
        (Rewrite("retention_since_dropped", "A or B", "B"),),
        (f"{_LOST_PARTITIONS}::TestDroppedWithItsDirectory::test_the_retention_begins_when_it_is_said",),
    ),
    Mutation(
        "H50-flagged",
        "no compaction is started for a partition that discovery has dropped between the renames",
        (Rewrite("unregistered_recovered", "A if B else C", "C"),),
        (
            f"{_LOST_PARTITIONS}::TestDroppedByDiscovery"
            "::test_an_analysis_flags_it_so_that_a_compaction_of_what_is_flagged_brings_it_back",
        ),
    ),
    Mutation(
        "H50-told",
        "a run is closed before anybody is told of a partition that the metastore has lost",
        (Remove("told_before_closed"),),
        (
            f"{_LOST_PARTITIONS}::TestDroppedByDiscovery::test_a_kill_right_after_the_run_is_closed_hides_nothing",
        ),
    ),
    Mutation(
        "H40-hidden",
        "a directory with the name of the next record hides a run",
        (Condition("records_are_files", False),),
        (
            "tests/crash/test_exits_out_of_place.py::TestDirectoryWithTheNameOfARecord"
            "::test_hides_no_run_and_is_moved_away",
        ),
    ),
)
