"""Guards against other jobs, faults and the metastore's habits. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Replace, Rewrite, Value

_WRITERS = "tests/crash/test_guards_writers.py"
_JOBS = "tests/crash/test_guards_jobs.py"
_FAULTS = "tests/crash/test_guards_faults.py"
_ROLLBACK = "tests/crash/test_guards_rollback.py"
_RECOVERY = "tests/crash/test_recovery_in_jobs.py"
_CLEANUP = "tests/crash/test_guards_cleanup.py"
_TABLES = "tests/crash/test_guards_tables.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_PARAMETERS = "tests/unit/core/test_metastore_parameters.py"
_STATISTICS = "tests/crash/test_statistics.py"
_BELIEVED = Condition("rename_answer_lost", True)

JOBS = (
    Mutation(
        "H10-clone",
        "the backup table takes the source's properties over",
        (
            Rewrite(
                "backup_own_properties", "{**F(S), R: I, N: S.A, **M}", "{**S.properties, R: I, N: S.A, **M}"
            ),
        ),
        (f"{_STATEMENTS}::test_a_backup_table_is_defined_by_what_we_say_and_nothing_else",),
    ),
    Mutation(
        "H10-drop",
        "purge is not switched off again before a backup table is dropped",
        (Remove("no_purge_before_drop"),),
        (f"{_STATEMENTS}::test_a_backup_is_made_harmless_before_it_is_dropped",),
    ),
    Mutation(
        "H10-other-tool",
        "Lakekeeper 0.0.6 takes the backup table for its own, and its cleanup deletes the originals",
        (Value("originals_not_of_another_tool", "f'__old_{stamp}'"),),
        (
            "tests/unit/core/test_layout.py"
            "::test_no_directory_of_a_run_has_what_lakekeeper_0_0_6_takes_for_its_own",
        ),
    ),
    Mutation(
        "H10-other-rollback",
        "Lakekeeper 0.0.6 takes the backup table for its own, and its rollback moves the table into the home",
        (Value("backup_not_of_another_tool", "f'{options.backup_prefix}_{source.table}_{stamp}'"),),
        ("tests/crash/test_legacy.py::test_it_does_not_take_our_backup_tables_for_its_own",),
    ),
    Mutation(
        "H10-other-moved",
        "older originals come back to a place from which Lakekeeper 0.0.6 has moved newer rows",
        (Condition("nothing_beside_leftovers", False),),
        (
            "tests/crash/test_legacy.py"
            "::test_of_a_missing_directory_what_it_has_left_is_named_and_nobody_is_told_to_drop_or_to_roll_back",
            "tests/crash/test_legacy.py::test_no_recovery_puts_older_rows_beside_newer_ones_that_it_has_moved",
        ),
    ),
    Mutation(
        "H10-other-cleanup",
        "Lakekeeper 0.0.6 drops the backup table of a table that is named by a date and a time",
        (Value("backup_no_orphan_of_another_tool", "base"),),
        ("tests/crash/test_legacy.py::test_it_does_not_take_our_backup_tables_for_its_own",),
    ),
    Mutation(
        "H12-none",
        "originals are registered although nobody wants a table of them",
        (Rewrite("backup_if_wanted", "A and B and C", "A and B"),),
        (f"{_TABLES}::TestLeftAlone::test_no_table_of_the_originals_where_nobody_wants_one",),
    ),
    Mutation(
        "H12-database",
        "the backup table stands beside its source, whose readers it is not for",
        (Rewrite("backup_database_of_its_own", "A or B", "B"),),
        (
            f"{_TABLES}::TestLeftAlone::test_the_table_of_the_originals_goes_to_the_database_that_is_meant_for_it",
        ),
    ),
    Mutation(
        "H18",
        "the metastore is asked between the two renames",
        (Replace("nothing_between_renames", "STATEMENT\nself._services.metastore.tables('sales')"),),
        (f"{_WRITERS}::TestWriters::test_nothing_happens_between_the_two_renames",),
    ),
    Mutation(
        "H19-lease",
        "a lease is taken over from a living owner",
        (Condition("living_owner", False),),
        (f"{_JOBS}::TestOtherJobs::test_a_living_owner_is_waited_for_and_not_taken_over",),
    ),
    Mutation(
        "H20-deadline",
        "after the deadline, the lease of a dead job is not waited for, and what it has begun stays as it is",
        (Rewrite("recovery_after_deadline", "A < B and not (C and D)", "A < B and not C"),),
        (f"{_RECOVERY}::test_a_retry_after_the_deadline_brings_a_missing_partition_back",),
    ),
    Mutation(
        "H19-fence",
        "a run is taken over without renaming its folder",
        (Rewrite("fence_by_rename", "F.M(A, B)", "B = A"),),
        (f"{_JOBS}::TestOtherJobs::test_who_slept_at_a_rename_is_fenced_off",),
    ),
    Mutation(
        "H19-open",
        "who opens a run does not look whether the lease is still his",
        (Remove("lease_held_on_open"),),
        (f"{_JOBS}::TestOtherJobs::test_who_was_taken_over_before_he_opened_a_run_does_nothing_more",),
    ),
    Mutation(
        "H19-enter",
        "who enters a run does not look whether the lease is still his",
        (Remove("lease_held_on_enter"),),
        (f"{_JOBS}::TestOtherJobs::test_who_was_taken_over_before_he_entered_a_run_does_nothing_more",),
    ),
    Mutation(
        "H20-journal",
        "directories move before the journal says so",
        (Remove("journal_before_rename"),),
        (f"{_FAULTS}::TestFaults::test_whoever_comes_next_settles_what_a_death_left",),
    ),
    Mutation(
        "H20-recover",
        "a compaction settles nothing, neither at first nor after it has waited",
        (Remove("recover_first"),),
        (f"{_FAULTS}::TestFaults::test_whoever_comes_next_settles_what_a_death_left",),
    ),
    Mutation(
        "H20-whole",
        "what was written goes live in recovery without another look",
        (Rewrite("whole_before_forward", "A and B and C", "A and B"),),
        (f"{_FAULTS}::TestFaults::test_what_is_not_whole_any_more_does_not_go_live",),
    ),
    Mutation(
        "H21-journal",
        "a run counts only if the metastore has its backup table",
        (
            Rewrite(
                "originals_by_journal",
                "A(B for U in R.S.L())",
                "bool(R.backup_table) and A(B for U in R.S.L())",
            ),
        ),
        (f"{_ROLLBACK}::TestRollback::test_the_journal_and_not_the_metastore_leads_the_way_back",),
    ),
    Mutation(
        "H22",
        "a rename that reports an error is taken for one that failed (two layers: the move, and the swap)",
        (
            _BELIEVED,
            Replace("late_swap_fenced", "return SwapResult(journal.DISCARDED, 'believed', failed=True)"),
        ),
        (f"{_FAULTS}::TestFaults::test_an_answer_of_a_rename_is_not_believed",),
    ),
    Mutation(
        "H22-refused",
        "a swap whose second rename is refused is given up and closed",
        (Rewrite("settle_after_error", "A(B(S, E), F=True)", "SwapResult(journal.DISCARDED, E, F=True)"),),
        (f"{_FAULTS}::TestFaults::test_a_permission_that_expires_in_the_gap_leaves_the_intent_open",),
    ),
    Mutation(
        "H22-move",
        "a lost answer undoes a swap that took place",
        (_BELIEVED,),
        ("tests/crash/test_model.py::TestFaults::test_a_move_tells_a_lost_answer_from_a_failure",),
    ),
    Mutation(
        "H37",
        "a swap is settled while its first rename may still be carried out",
        (Remove("late_swap_fenced"),),
        (f"{_FAULTS}::TestFaults::test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more",),
    ),
    Mutation(
        "H37-back",
        "a rollback goes on while its first rename may still be carried out",
        (Replace("late_rename_fenced", "continue"),),
        (f"{_ROLLBACK}::TestRollback::test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more",),
    ),
    Mutation(
        "H39-written",
        "a retention counts from what the driver's clock said that compacted",
        (Rewrite("dated_by_file_system", "A(R, at=M, said=S, filed=F)", "A(R, filed=F)"),),
        (f"{_CLEANUP}::TestCleanup::test_the_retention_counts_by_the_clock_of_the_file_system",),
    ),
    Mutation(
        "H39-now",
        "a retention ends when the clock of the driver says so that cleans up",
        (Rewrite("retention_by_file_system", "A() or B()", "B()"),),
        (f"{_CLEANUP}::TestCleanup::test_the_retention_counts_by_the_clock_of_the_file_system",),
    ),
    Mutation(
        "H40-bounds",
        "a journal may name directories that its home does not serve",
        (Rewrite("journal_in_bounds", "A if B else C", "B"),),
        ("tests/crash/test_planted_journals.py::test_a_planted_journal_reaches_nothing_outside_its_table",),
    ),
    Mutation(
        "H41-property",
        "a table's property shortens the retention of the configuration",
        (Rewrite("property_only_lengthens", "{**F, **M}", "F"),),
        (
            "tests/unit/core/test_options.py"
            "::test_a_table_property_lengthens_a_retention_and_never_shortens_it",
        ),
    ),
    Mutation(
        "H38-discard",
        "what a late task added to a directory that never was live is carried into the table",
        (Rewrite("carry_from_aside_only", "A(P, S) if C else D", "A(P, S)"),),
        (f"{_FAULTS}::TestFaults::test_a_file_of_a_task_that_ends_late_is_not_taken_for_a_writers",),
    ),
    Mutation(
        "H38-forward",
        "what a late task added to a directory that waits for its second rename goes live with it",
        (Rewrite("nothing_added_before_live", "A and B", "A"),),
        (f"{_FAULTS}::TestFaults::test_a_file_of_a_task_that_ends_late_does_not_go_live_with_the_others",),
    ),
    Mutation(
        "H23-order",
        "originals are registered where they are not yet",
        (Rewrite("backup_of_committed_only", "A(J.COMMITTED)", "A(J.COMMITTED, J.PREPARED)"),),
        (f"{_JOBS}::TestOtherJobs::test_the_metastore_is_told_of_originals_only_when_they_are_there",),
    ),
    Mutation(
        "H23-fenced",
        "the metastore makes a folder again that was taken over",
        (Condition("no_backup_of_fenced_run", False),),
        (f"{_JOBS}::TestOtherJobs::test_the_metastore_is_not_told_of_a_folder_that_was_taken_over",),
    ),
    Mutation(
        "H30",
        "a missing permission is a failure like any other",
        (Replace("not_writable_refused", "raise"),),
        (
            f"{_FAULTS}::TestFaults::test_a_table_beside_which_nothing_can_be_written_is_refused_before_any_work",
        ),
    ),
    Mutation(
        "H32",
        "what fails again and again in the gap is given up and closed",
        (Replace("intent_stays_open", "return SwapResult(journal.DISCARDED, str(error), failed=True)"),),
        (f"{_FAULTS}::TestFaults::test_a_permission_that_expires_in_the_gap_leaves_the_intent_open",),
    ),
    Mutation(
        "H34-table",
        "an odd table stops the run",
        (Replace("table_failure_isolated", "raise"),),
        (f"{_FAULTS}::TestFaults::test_one_odd_table_does_not_stop_the_others",),
    ),
    Mutation(
        "H34-unit",
        "an odd unit stops its table",
        (
            Replace(
                "unit_failure_isolated",
                "if isinstance(why, Exception) and not isinstance(why, LakekeeperError):\n    raise why\nSTATEMENT",
            ),
        ),
        (f"{_FAULTS}::TestFaults::test_one_odd_unit_does_not_stop_the_others",),
    ),
    Mutation(
        "H35",
        "statistics are computed whether or not anybody asked",
        (Condition("statistics_on_request", True),),
        (f"{_TABLES}::TestFiles::test_statistics_are_not_touched_unless_asked_for",),
    ),
    Mutation(
        "H35-files",
        "the figures of files are set whether or not anybody asked",
        (Condition("file_statistics_on_request", True),),
        (f"{_STATISTICS}::TestOnRequest::test_nothing_is_asked_by_default",),
    ),
    Mutation(
        "H35-changed",
        "parameters are written over what somebody else has changed meanwhile",
        (Value("changed_parameters_left_alone", "True"),),
        (f"{_STATISTICS}::TestOthers::test_a_unit_that_somebody_changes_meanwhile_is_left_alone",),
    ),
    Mutation(
        "H35-accurate",
        "the metastore forgets what it knows of columns when the figures of files are set",
        (Remove("statistics_not_recalculated"),),
        (f"{_PARAMETERS}::test_only_those_parameters_are_written",),
    ),
    Mutation(
        "H35-kept",
        "a text of a table makes the record of its run too large to be read",
        (Value("kept_values_are_bounded", "cls(before, after)"),),
        ("tests/unit/core/test_statistics.py::test_a_value_of_any_length_is_no_part_of_a_record",),
    ),
    Mutation(
        "H35-own",
        "a rollback writes over the statistics of somebody else",
        (Value("own_statistics_put_back", "self.before"),),
        (f"{_STATISTICS}::TestOthers::test_a_rollback_leaves_the_statistics_of_others",),
    ),
)
