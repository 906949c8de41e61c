"""Guards of the records of runs that are over. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Remove, Rewrite, Value

_FOLDING = "tests/crash/test_folding.py"
_NUMBERS = "tests/crash/test_planted_numbers.py"
_RECORD = "tests/crash/test_settled_record.py"
_VERSIONS = "tests/crash/test_other_versions.py"
_SETTLED = "tests/unit/core/test_settled_runs.py"

RUNS = (
    Mutation(
        "H58-size",
        "a record is written that is too large to be read",
        (Remove("records_that_can_be_read"),),
        ("tests/crash/test_large_records.py::test_a_record_that_nobody_could_read_is_not_written",),
    ),
    Mutation(
        "H45-originals",
        "a run that holds originals is folded",
        (Value("originals_not_folded", "True"),),
        (f"{_SETTLED}::test_a_run_is_settled_once_it_holds_no_originals",),
    ),
    Mutation(
        "H45-unfinished",
        "a run is folded that an attempt is at work in",
        (Condition("unfinished_run_not_folded", False),),
        (f"{_SETTLED}::test_a_run_that_somebody_is_at_work_in_is_not_settled",),
    ),
    Mutation(
        "H45-files",
        "a run is folded whose directory holds files that are no records",
        (Value("files_not_folded", "True"),),
        (f"{_FOLDING}::TestNotFolded::test_a_run_whose_directory_holds_another_file",),
    ),
    Mutation(
        "H45-moved",
        "what was moved away is deleted whatever is in it",
        (Condition("moved_folder_with_files", False),),
        (f"{_RECORD}::test_what_was_moved_away_and_holds_other_files_is_kept_and_reported",),
    ),
    Mutation(
        "H45-age",
        "a run is folded as soon as it is settled, while calls of its job may still be late",
        (Value("fold_age", "True"),),
        (f"{_FOLDING}::TestNotFolded::test_a_run_that_ended_today",),
    ),
    Mutation(
        "H45-enter",
        "a run's directory is moved away without entering the run, so that nobody fences the one who does it",
        (Rewrite("entered_before_move", "A.append(F(R, L, V))", "A.append(R)"),),
        (f"{_FOLDING}::test_who_was_taken_over_before_he_moved_a_directory_moves_nothing",),
    ),
    Mutation(
        "H45-record",
        "directories are moved away before the record is published",
        (Remove("record_before_move"),),
        (f"{_FOLDING}::test_settled_runs_are_folded_and_answer_as_before",),
    ),
    Mutation(
        "H45-log",
        "what the commit log lacks of a run is lost with its journal",
        (Remove("logged_before_folded"),),
        (f"{_RECORD}::test_what_the_log_lacks_is_logged_before_its_journal_goes",),
    ),
    Mutation(
        "H45-latest",
        "the latest snapshot of the commit log is deleted, and with it what the log adds up to",
        (Rewrite("latest_snapshot_stays", "S.M()[:-1]", "S.M()"),),
        (f"{_SETTLED}::test_the_latest_snapshot_stays_and_the_next_one_is_numbered_after_it",),
    ),
    Mutation(
        "H45-snapshots",
        "snapshots of a run are deleted whose journal is there and puts them into the log again",
        (Rewrite("snapshots_of_present_runs", "S.L.M({A.U for A in O if C})", "S.L.M({A.U for A in O})"),),
        (f"{_RECORD}::TestTheRecord::test_snapshots_of_a_run_whose_directory_is_there_stay",),
    ),
    Mutation(
        "H45-owner",
        "a record of settled runs counts whoever has put it there",
        (Remove("settled_record_owner"),),
        (f"{_RECORD}::TestTheRecord::test_one_of_an_account_that_is_not_trusted_is_refused",),
    ),
    Mutation(
        "H45-copy",
        "a record of settled runs that came with a copy counts",
        (Condition("copied_settled_record", True),),
        (f"{_RECORD}::TestTheRecord::test_one_that_came_with_a_copy_is_ignored_and_reported",),
    ),
    Mutation(
        "H49-digits",
        "a lease is taken for one of a job whatever number it has",
        (Value("padded_numbers_bounded", "'[0-9]+'"),),
        (f"{_NUMBERS}::test_no_number_in_a_name_fails_a_job",),
    ),
    Mutation(
        "H49-stamp",
        "a working directory is taken for one of a job whatever number it has",
        (Value("numbers_bounded", "'[0-9]+'"),),
        (f"{_NUMBERS}::test_a_run_goes_on_beside_a_directory_with_such_a_number",),
    ),
    Mutation(
        "H49-last",
        "the number that follows the last one has a digit more",
        (Condition("last_number", False),),
        (f"{_NUMBERS}::test_where_no_number_is_left_the_table_alone_is_refused",),
    ),
    Mutation(
        "H58-home",
        "a home of another format is taken for an empty one",
        (Condition("format_of_home", False),),
        (f"{_VERSIONS}::test_a_home_of_0_1_0_is_refused_whatever_its_job_has_left",),
    ),
    Mutation(
        "H58-record",
        "a record of another schema is decoded as if it were one of ours",
        (Condition("schema_of_other_version", False),),
        (f"{_VERSIONS}::test_a_downgrade_in_the_middle_of_a_run_is_refused",),
    ),
    Mutation(
        "H58-rollback",
        "a rollback of a database succeeds where it cannot read a run",
        (Value("hidden_runs_fail_a_rollback", "self.by_name"),),
        (f"{_VERSIONS}::test_a_rollback_of_a_database_fails_where_it_cannot_read_the_run",),
    ),
    Mutation(
        "H58-swapped",
        "a table of which units were swapped is refused, as if nothing was done",
        (Condition("swapped_is_not_refused", False),),
        (f"{_VERSIONS}::test_a_table_of_which_units_were_swapped_is_not_refused",),
    ),
    Mutation(
        "H58-log",
        "the home of a dropped table is deleted with a commit log that cannot be read",
        (Remove("log_of_home"),),
        (f"{_VERSIONS}::test_a_home_whose_commit_log_another_version_has_written_outlives_its_table",),
    ),
    Mutation(
        "H58-check",
        "what a run of another version may hold is said to be missing",
        (Condition("nothing_judged_beside_other_version", False),),
        (f"{_VERSIONS}::test_a_downgrade_in_the_middle_of_a_run_is_refused",),
    ),
)
