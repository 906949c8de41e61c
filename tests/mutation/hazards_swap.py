"""Guards of the protocol: who may touch what, in which order, and what a fault leaves. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Edit, Mutation

_SHELL = "spark_jobs/shell"
_GUARDS = "tests/crash/test_guards.py"
_BACK = "tests/crash/test_guards_back.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_OFF = "if False:"
_BETWEEN = "test_rows_appended_between_the_renames_stay_in_the_table_that_is_not_rolled_back"

_UNLIKE_MANIFEST = Edit(f"{_SHELL}/stages/retirement.py", "        if changes:\n", f"        {_OFF}\n")
_UNKNOWN_FILE = Edit(f"{_SHELL}/stages/retirement.py", "        if unknown:\n", f"        {_OFF}\n")
_REPLACED = Edit(
    f"{_SHELL}/swap/swapping.py",
    'return f"{lost[0].name} was replaced or removed during the swap" if lost else None',
    "return None",
)
_LATE_OVERWRITE = Edit(
    f"{_SHELL}/swap/returning.py",
    "return lost[0] if lost else None",
    "return None",
)
_STAGING_AT_WORK = Edit(
    f"{_SHELL}/swap/directories.py",
    "            if entry.is_dir or is_staging(entry.name):\n",
    f"            {_OFF}\n",
)
SWAP = (
    Mutation(
        "H1-journal",
        "a run is a table's if the name only begins like it",
        (
            Edit(
                f"{_SHELL}/state/journal_store.py",
                "        return self.state.table == table or self.state.location == location\n",
                "        return self.state.table.startswith(table)\n",
            ),
        ),
        (f"{_BACK}::TestRollback::test_a_table_whose_name_begins_like_another_s_leaves_its_runs_alone",),
    ),
    Mutation(
        "H1-backup",
        "a backup table is found by the prefix of its name",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                "if properties.get(RUN_PROPERTY) == run_id and properties.get(SOURCE_PROPERTY) == source:",
                "if properties and table.startswith(f\"__bkp_{source.split('.')[1]}\"):",
            ),
        ),
        (f"{_STATEMENTS}::test_backup_tables_are_found_by_their_properties_and_never_by_their_names",),
    ),
    Mutation(
        "H1-drop",
        "a backup table is dropped whosever it is",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                'if not ours or facts.kind != "EXTERNAL":',
                'if facts.kind != "EXTERNAL":',
            ),
        ),
        (f"{_STATEMENTS}::test_what_is_not_the_backup_of_exactly_this_run_is_not_dropped",),
    ),
    Mutation(
        "H2",
        "a cleanup deletes what lies at a journaled path, whatever it is (three layers: identity, manifest, names)",
        (
            Edit(
                f"{_SHELL}/stages/retirement.py",
                "        if fs.identity(old) != swap.live_id:\n",
                f"        {_OFF}\n",
            ),
            _UNLIKE_MANIFEST,
            _UNKNOWN_FILE,
        ),
        (f"{_BACK}::TestCleanup::test_a_directory_that_is_not_the_journaled_one_is_not_deleted",),
    ),
    Mutation(
        "H2-live",
        "a cleanup deletes originals while the live directory is missing",
        (
            Edit(
                f"{_SHELL}/stages/retirement.py",
                "        if self._cluster.fs.status(swap.live) is None and swap.unit.key in self._locations:\n",
                f"        {_OFF}\n",
            ),
        ),
        (f"{_BACK}::TestCleanup::test_originals_stay_while_the_live_directory_is_missing",),
    ),
    Mutation(
        "H6-dropped",
        "a partition that was dropped in the last moment comes back with a rollback",
        (
            Edit(
                f"{_SHELL}/swap/returning.py",
                "        if not self._policy.still_registered(places.swap):\n",
                "        if not self._policy.registered(places.swap):\n",
            ),
        ),
        (f"{_BACK}::TestRollback::test_a_partition_that_is_dropped_in_the_last_moment_does_not_come_back",),
    ),
    Mutation(
        "H20-homes",
        "an interrupted run is not seen once the metastore has lost its partition",
        (
            Edit(
                f"{_SHELL}/state/journal_store.py",
                '        found.homes.update(last.body["homes"])\n',
                "        found.homes.update([])\n",
            ),
        ),
        (f"{_BACK}::TestUnfinished::test_a_run_is_found_although_the_metastore_has_lost_its_only_partition",),
    ),
    Mutation(
        "H3-anew",
        "a directory that a writer of unknown kind made in the gap is merged into the table",
        (
            Edit(
                f"{_SHELL}/swap/executor.py",
                '        if self._policy.writers in ("append", "overwrite"):\n',
                "        if True:\n",
            ),
        ),
        (f"{_GUARDS}::TestWriters::test_a_directory_made_anew_in_the_gap_is_nobodys_to_judge",),
    ),
    Mutation(
        "H4-check",
        "nothing is looked at again before the swap (and not after it: the sweep would undo it)",
        (Edit(f"{_SHELL}/swap/swapping.py", "        if lost:\n", f"        {_OFF}\n"), _REPLACED),
        (f"{_GUARDS}::TestWriters::test_rows_replaced_during_the_compaction_call_the_swap_off",),
    ),
    Mutation(
        "H4-sweep",
        "files that came in the last moment stay with the originals",
        (
            Edit(
                f"{_SHELL}/swap/swapping.py",
                "            carried = carry(self._fs, places.swap.originals, places.old, places.live)\n",
                "            carried = 0\n",
            ),
        ),
        (f"{_GUARDS}::TestWriters::test_rows_appended_in_the_last_moment_are_carried",),
    ),
    Mutation(
        "H4-replaced",
        "an overwrite in the last moment is not noticed, and old rows come back",
        (_REPLACED,),
        (f"{_GUARDS}::TestWriters::test_rows_replaced_in_the_last_moment_are_not_brought_back",),
    ),
    Mutation(
        "H5-staging",
        "a writer's staging file in a unit is taken for data",
        (Edit(f"{_SHELL}/swap/directories.py", "    if is_staging(entry.name):\n", f"    {_OFF}\n"),),
        (f"{_GUARDS}::TestWriters::test_staging_in_a_unit_is_left_alone",),
    ),
    Mutation(
        "H5-above",
        "a writer's staging folder above a unit is not looked for",
        (
            Edit(
                f"{_SHELL}/stages/survey.py",
                "if is_staging(entry.name) and location != root and entry.mtime >= dead_before:",
                _OFF,
            ),
        ),
        (f"{_GUARDS}::TestWriters::test_staging_above_a_unit_is_left_alone",),
    ),
    Mutation(
        "H5-open",
        "nobody asks for open files, neither before the swap nor in the sweep",
        (
            Edit(f"{_SHELL}/swap/directories.py", "    if opened:\n", f"    {_OFF}\n"),
            Edit(
                f"{_SHELL}/swap/directories.py",
                "        return opened[0] if opened else None\n",
                "        return None\n",
            ),
        ),
        (f"{_GUARDS}::TestWriters::test_a_unit_with_an_open_file_is_left_alone",),
    ),
    Mutation(
        "H5-sweep",
        "a job that staged right before the swap loses its staging folder",
        (_STAGING_AT_WORK,),
        (f"{_GUARDS}::TestWriters::test_a_job_that_stages_as_the_swap_begins_gets_through",),
    ),
    Mutation(
        "H5-cleanup",
        "a cleanup deletes what came to the originals late (two layers: manifest, names)",
        (_UNLIKE_MANIFEST, _UNKNOWN_FILE),
        (f"{_BACK}::TestCleanup::test_a_file_that_came_to_the_originals_late_is_kept",),
    ),
    Mutation(
        "H6-carry",
        "a rollback leaves rows behind that were added since",
        (
            Edit(
                f"{_SHELL}/swap/executor.py",
                "return carry(self._fs, places.swap.compacted, source, places.live)",
                "return 0",
            ),
        ),
        (f"{_BACK}::TestRollback::test_rows_appended_since_stay_in_the_table",),
    ),
    Mutation(
        "H6-conflict",
        "what appenders wrote between the renames is left in a folder that nobody reads",
        (
            Edit(
                f"{_SHELL}/swap/executor.py", "found.carried + self._carry_conflicts(places)", "found.carried"
            ),
        ),
        (f"{_BACK}::TestRollback::{_BETWEEN}",),
    ),
    Mutation(
        "H6-delete",
        "a rollback deletes the live directory instead of renaming it aside",
        (
            Edit(
                f"{_SHELL}/swap/returning.py",
                "Where.SWAPPED: self._out,",
                "Where.SWAPPED: lambda places, _: self._fs.delete_tree(places.live),",
            ),
        ),
        (f"{_BACK}::TestRollback::test_rows_appended_since_stay_in_the_table",),
    ),
    Mutation(
        "H6-overwritten",
        "a rollback brings rows back that were overwritten since (two layers: before, and between the renames)",
        (
            Edit(
                f"{_SHELL}/swap/returning.py",
                "lost = [file.name for file in changes.lost if file.is_data]",
                "lost: list[str] = []",
            ),
            _LATE_OVERWRITE,
        ),
        (f"{_BACK}::TestRollback::test_rows_that_were_overwritten_since_do_not_come_back",),
    ),
    Mutation(
        "H6-late",
        "a rollback brings rows back that were overwritten in the last moment",
        (_LATE_OVERWRITE,),
        (f"{_BACK}::TestRollback::test_rows_that_were_overwritten_in_the_last_moment_do_not_come_back",),
    ),
    Mutation(
        "H6-theirs",
        "tidying up deletes files that the run did not write",
        (Edit(f"{_SHELL}/swap/leftovers.py", "if known.get(name) == file or is_marker(file):", "if True:"),),
        (f"{_BACK}::TestRollback::test_what_others_put_into_a_folder_of_ours_is_not_deleted",),
    ),
    Mutation(
        "H8",
        "a folder in a unit is read past, before the swap and in the sweep",
        (Edit(f"{_SHELL}/swap/directories.py", "    if entry.is_dir:\n", f"    {_OFF}\n"), _STAGING_AT_WORK),
        (f"{_GUARDS}::TestWriters::test_folders_in_a_unit_are_refused",),
    ),
    Mutation(
        "H9",
        "what is ours lies below a `_` folder, which Impala lists",
        (Edit("spark_jobs/core/layout.py", 'HOME = ".lakekeeper"', 'HOME = "_lakekeeper"'),),
        ("tests/unit/core/test_records.py::test_homes_hide_behind_a_dot_and_keep_the_leaf_visible",),
    ),
)
