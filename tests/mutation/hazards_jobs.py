"""Guards against other jobs, faults and the metastore's habits. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Edit, Mutation

_SHELL = "spark_jobs/shell"
_GUARDS = "tests/crash/test_guards.py"
_BACK = "tests/crash/test_guards_back.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_OFF = "if False:"
_BELIEVED = Edit(
    f"{_SHELL}/ports.py",
    "            if self.identity(target) != identity:\n                raise\n",
    "            raise\n",
)

JOBS = (
    Mutation(
        "H10-clone",
        "the backup table takes the source's properties over",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                "properties = {**BACKUP_PROPERTIES, RUN_PROPERTY",
                "properties = {**source.properties, RUN_PROPERTY",
            ),
        ),
        (f"{_STATEMENTS}::test_a_backup_table_is_defined_by_what_we_say_and_nothing_else",),
    ),
    Mutation(
        "H10-drop",
        "purge is not switched off again before a backup table is dropped",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                'f"ALTER TABLE {_quoted(backup)} SET TBLPROPERTIES ({_properties(BACKUP_PROPERTIES)})"',
                '"SELECT 1"',
            ),
        ),
        (f"{_STATEMENTS}::test_a_backup_is_made_harmless_before_it_is_dropped",),
    ),
    Mutation(
        "H12-none",
        "originals are registered although nobody wants a table of them",
        (
            Edit(
                f"{_SHELL}/stages/backup.py",
                "if kept is None and wanted is not None and options.register_backup:",
                "if kept is None and wanted is not None:",
            ),
        ),
        (f"{_BACK}::TestLeftAlone::test_no_table_of_the_originals_where_nobody_wants_one",),
    ),
    Mutation(
        "H12-database",
        "the backup table stands beside its source, whose readers it is not for",
        (
            Edit(
                f"{_SHELL}/stages/backup.py",
                "wanted = TableName(options.backup_database or source.database, base)",
                "wanted = TableName(source.database, base)",
            ),
        ),
        (
            f"{_BACK}::TestLeftAlone::test_the_table_of_the_originals_goes_to_the_database_that_is_meant_for_it",
        ),
    ),
    Mutation(
        "H18",
        "the metastore is asked between the two renames",
        (
            Edit(
                f"{_SHELL}/swap/swapping.py",
                "            self._fs.move(places.live, places.old, swap.live_id)\n",
                "            self._fs.move(places.live, places.old, swap.live_id)\n"
                '            self._cluster.metastore.tables("sales")\n',
            ),
        ),
        (f"{_GUARDS}::TestWriters::test_nothing_happens_between_the_two_renames",),
    ),
    Mutation(
        "H19-lease",
        "a lease is taken over from a living owner",
        (
            Edit(
                f"{_SHELL}/state/lease.py",
                "        while seen is not None and not seen.file.released:\n",
                "        while False:\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_a_living_owner_is_waited_for_and_not_taken_over",),
    ),
    Mutation(
        "H19-fence",
        "a run is taken over without renaming its folder",
        (
            Edit(
                f"{_SHELL}/state/runs.py",
                '    folder = f"{parent(run.folder)}/{run.run_id}.{uuid.uuid4().hex[:12]}"\n'
                "    try:\n        fs.rename(run.folder, folder)\n",
                "    folder = run.folder\n    try:\n        pass\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_who_slept_at_a_rename_is_fenced_off",),
    ),
    Mutation(
        "H19-open",
        "who opens a run does not look whether the lease is still his",
        (
            Edit(
                f"{_SHELL}/state/runs.py",
                "    custody.check()\n    state = journal_.state()\n",
                "    state = journal_.state()\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_who_was_taken_over_before_he_opened_a_run_does_nothing_more",),
    ),
    Mutation(
        "H19-enter",
        "who enters a run does not look whether the lease is still his",
        (
            Edit(
                f"{_SHELL}/state/runs.py",
                "    run.journal.append(journal.ENTERED, verb=verb)\n    custody.check()\n",
                "    run.journal.append(journal.ENTERED, verb=verb)\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_who_was_taken_over_before_he_entered_a_run_does_nothing_more",),
    ),
    Mutation(
        "H20-journal",
        "directories move before the journal says so",
        (
            Edit(
                f"{_SHELL}/stages/compaction.py",
                "            self._run.journal.append(journal.PREPARED, swaps=",
                "            (",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_whoever_comes_next_settles_what_a_death_left",),
    ),
    Mutation(
        "H20-recover",
        "a compaction settles nothing, neither at first nor after it has waited",
        (
            Edit(
                f"{_SHELL}/verbs/compact.py",
                "    def compact(self) -> TableReport:\n        self._recover()\n",
                "    def compact(self) -> TableReport:\n",
            ),
            Edit(
                f"{_SHELL}/verbs/compact.py",
                "            self._recover()\n            self._survey()\n",
                "            self._survey()\n",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_whoever_comes_next_settles_what_a_death_left",),
    ),
    Mutation(
        "H20-whole",
        "what was written goes live in recovery without another look",
        (
            Edit(
                f"{_SHELL}/swap/swapping.py",
                " and places.complete(source, swap.compacted):\n            self._fs.move(source",
                ":\n            self._fs.move(source",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_what_is_not_whole_any_more_does_not_go_live",),
    ),
    Mutation(
        "H21-journal",
        "a run counts only if the metastore has its backup table",
        (
            Edit(
                f"{_SHELL}/verbs/rollback.py",
                "    return any(not unit.final for unit in run.state.units.values())\n",
                "    return bool(run.state.backup_table) and any(not u.final for u in run.state.units.values())\n",
            ),
        ),
        (f"{_BACK}::TestRollback::test_the_journal_and_not_the_metastore_leads_the_way_back",),
    ),
    Mutation(
        "H22",
        "a rename that reports an error is taken for one that failed (two layers: the move, and the swap)",
        (
            _BELIEVED,
            Edit(
                f"{_SHELL}/swap/swapping.py",
                "return replace(self.settle(swap, str(error)), failed=True)",
                "return Verdict(journal.DISCARDED, str(error), failed=True)",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_an_answer_of_a_rename_is_not_believed",),
    ),
    Mutation(
        "H22-move",
        "a lost answer undoes a swap that took place",
        (_BELIEVED,),
        ("tests/crash/test_model.py::TestFaults::test_a_move_tells_a_lost_answer_from_a_failure",),
    ),
    Mutation(
        "H23-order",
        "originals are registered where they are not yet",
        (
            Edit(
                f"{_SHELL}/stages/backup.py",
                "run.current().of_kind(journal.COMMITTED)\n",
                "run.current().of_kind(journal.COMMITTED, journal.PREPARED)\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_the_metastore_is_told_of_originals_only_when_they_are_there",),
    ),
    Mutation(
        "H23-fenced",
        "the metastore makes a folder again that was taken over",
        (
            Edit(
                f"{_SHELL}/stages/backup.py",
                "        if cluster.fs.status(run.folder) is None:\n",
                f"        {_OFF}\n",
            ),
        ),
        (f"{_GUARDS}::TestOtherJobs::test_the_metastore_is_not_told_of_a_folder_that_was_taken_over",),
    ),
    Mutation(
        "H30",
        "a missing permission is a failure like any other",
        (
            Edit(
                f"{_SHELL}/verbs/compact.py",
                '            raise Refusal("NOT_WRITABLE", str(error)) from None\n',
                "            raise error\n",
            ),
        ),
        (
            f"{_GUARDS}::TestFaults::test_a_table_beside_which_nothing_can_be_written_is_refused_before_any_work",
        ),
    ),
    Mutation(
        "H32",
        "what fails again and again in the gap is given up and closed",
        (
            Edit(
                f"{_SHELL}/swap/executor.py",
                "                if errors == _ERRORS:\n                    raise\n",
                "                if errors == _ERRORS:\n"
                "                    return Verdict(journal.DISCARDED, str(error), failed=True)\n",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_a_permission_that_expires_in_the_gap_leaves_the_intent_open",),
    ),
    Mutation(
        "H34-table",
        "an odd table stops the run",
        (
            Edit(
                f"{_SHELL}/job.py",
                '    except Exception as error:\n        log.exception("%s failed", name)\n',
                "    except Exception as error:\n        raise\n",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_one_odd_table_does_not_stop_the_others",),
    ),
    Mutation(
        "H34-unit",
        "an odd unit stops its table",
        (
            Edit(
                f"{_SHELL}/stages/compaction.py",
                "        except Exception as error:\n            self._discard_tmp(survey)\n",
                "        except LakekeeperError as error:\n            self._discard_tmp(survey)\n",
            ),
        ),
        (f"{_GUARDS}::TestFaults::test_one_odd_unit_does_not_stop_the_others",),
    ),
    Mutation(
        "H35",
        "statistics are computed whether or not anybody asked",
        (
            Edit(
                f"{_SHELL}/verbs/compact.py",
                "        if not self._options.analyze_after_compaction:\n",
                f"        {_OFF}\n",
            ),
        ),
        (f"{_BACK}::TestFiles::test_statistics_are_not_touched_unless_asked_for",),
    ),
)
