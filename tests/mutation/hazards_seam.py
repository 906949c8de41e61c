"""Guards of the seam itself, which only a real Spark and a real metastore can tell."""

from __future__ import annotations

from tests.mutation.hazards_files import ROWS, TYPES
from tests.mutation.mutation import Edit, Mutation

_CORE, _SHELL = "spark_jobs/core", "spark_jobs/shell"
_SEAM = "tests/spark/test_seam.py"
_FIDELITY = "tests/spark/test_fidelity.py"


def _pinned(key: str, before: str, after: str) -> Edit:
    """Another value of a pinned setting."""
    return Edit(f"{_SHELL}/files/sessions.py", f'    "{key}": "{before}",\n', f'    "{key}": "{after}",\n')


SEAM = (
    Mutation(
        "H3",
        "a rename goes by FileSystem, which moves into an existing directory",
        (
            Edit(
                f"{_SHELL}/hadoop/fs.py",
                "self._context(source).rename(self._path(source), self._path(target), self._refuse)",
                "self._fs(source).rename(self._path(source), self._path(target))",
            ),
        ),
        (f"{_SEAM}::test_a_rename_never_goes_into_or_over_a_directory",),
        "spark",
    ),
    Mutation(
        "H7-schema",
        "the schema is that of one file (two layers: the union, and the look at what was written)",
        (
            Edit(f"{_CORE}/struct_types.py", "for struct in structs[1:]:", "for struct in structs[:0]:"),
            TYPES,
        ),
        (f"{_FIDELITY}::test_a_column_that_only_later_files_have_keeps_every_value[parquet]",),
        "spark",
    ),
    Mutation(
        "H14-calendar",
        "ancient dates are shifted to another calendar",
        (Edit(f"{_CORE}/encoding.py", 'UNKNOWN = "EXCEPTION"', 'UNKNOWN = "corrected"'),),
        (f"{_SEAM}::test_ancient_dates_of_two_calendars_are_left_alone",),
        "spark",
    ),
    Mutation(
        "H15-legacy",
        "legacy decimals have no way to be written (the unit is refused then, not changed)",
        (Edit(f"{_CORE}/encoding.py", 'for legacy in ("false", "true")', 'for legacy in ("false",)'),),
        (f"{_FIDELITY}::test_timestamps_and_decimals_keep_their_encoding[true-TIMESTAMP_MICROS]",),
        "spark",
    ),
    Mutation(
        "H14-zone",
        "ORC timestamps are rewritten where clocks move",
        (Edit(f"{_SHELL}/files/encoder.py", " if moving else None\n", " if False else None\n"),),
        ("tests/fidelity/test_zones.py::test_files_that_do_not_fit_together_are_refused[Europe/Paris-UTC]",),
        "spark",
    ),
    Mutation(
        "H14-orc",
        "Spark rewrites ORC timestamps that others wrote, to the microsecond",
        (
            Edit(
                f"{_SHELL}/files/encoder.py",
                "        if changed and not profile.by_spark:\n",
                "        if False:\n",
            ),
        ),
        ("tests/fidelity/test_zones.py::test_fractions_below_a_microsecond_stay",),
        "spark",
    ),
    Mutation(
        "H16-nameless",
        "ORC files whose columns have no names are put together with others",
        (
            Edit(
                f"{_SHELL}/stages/inspection.py",
                "(positional(table.facts) or nameless)",
                "positional(table.facts)",
            ),
        ),
        (
            "tests/fidelity/test_evolution.py"
            "::test_orc_files_without_names_beside_files_with_names_are_refused[True]",
        ),
        "spark",
    ),
    Mutation(
        "H24-files",
        "new files have the modes that the writer gives them",
        (
            Edit(
                f"{_SHELL}/stages/clothes.py",
                "judge(self.fs.give(entry.path, self.file), policy",
                "judge((), policy",
            ),
        ),
        (f"{_FIDELITY}::test_modes_and_success_markers_are_kept",),
        "spark",
    ),
    Mutation(
        "H24-folder",
        "a new directory has the mode that the file system gives it",
        (
            Edit(
                f"{_SHELL}/stages/clothes.py",
                "        warnings += judge(self.fs.give(new, self.folder), policy, self.location)\n",
                "",
            ),
            Edit(
                f"{_SHELL}/stages/clothes.py",
                "judge(self.fs.give(new, wanted), policy, self.location)",
                "judge((), policy, self.location)",
            ),
        ),
        (f"{_FIDELITY}::test_modes_and_success_markers_are_kept",),
        "spark",
    ),
    Mutation(
        "H29-hash",
        "a value that was written as another is not noticed",
        (
            Edit(
                f"{_SHELL}/files/rewrite.py",
                "        if _hashed(plan) and seen != written:\n",
                "        if False:\n",
            ),
        ),
        ("tests/fidelity/test_hashing.py::test_a_value_that_was_written_as_another_fails_the_unit",),
        "spark",
    ),
    Mutation(
        "H17-keys",
        "the backup table's keys have the types of the source's",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                '", ".join(f"{_name(key)} STRING" for key in source.partition_keys)',
                '", ".join(f"{_name(k)} {kind}" for k, kind in zip(source.partition_keys, source.partition_types))',
            ),
        ),
        (f"{_SEAM}::test_two_partitions_whose_values_are_the_same_number_stay_two",),
        "spark",
    ),
    Mutation(
        "H19-create",
        "a lease is written over another's",
        (
            Edit(
                f"{_SHELL}/hadoop/fs.py",
                "EnumSet.of(hadoop.CreateFlag.CREATE)",
                "EnumSet.of(hadoop.CreateFlag.CREATE, hadoop.CreateFlag.OVERWRITE)",
            ),
        ),
        (f"{_SEAM}::test_a_new_file_is_never_written_over_another",),
        "spark",
    ),
    Mutation(
        "H19-folder",
        "a record brings back the folder of a fenced attempt",
        (
            Edit(
                f"{_SHELL}/hadoop/fs.py",
                "self._context(path).create(self._path(path), self._new_file, self._no_options)",
                "self._fs(path).create(self._path(path), False)",
            ),
        ),
        (f"{_SEAM}::test_a_new_file_does_not_bring_its_folder_back",),
        "spark",
    ),
    Mutation(
        "H21-closed",
        "an error of the metastore reads as 'there are no partitions'",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                "            found = self._catalog.listPartitions(name.database, name.table, self._none)\n"
                "            rows = self._json(found)\n",
                "            try:\n"
                "                found = self._catalog.listPartitions(name.database, name.table, self._none)\n"
                "                rows = self._json(found)\n"
                "            except Exception:\n"
                "                rows = []\n",
            ),
        ),
        (f"{_SEAM}::test_the_metastore_fails_closed",),
        "spark",
    ),
    Mutation(
        "H29-pages",
        "pages that cannot be read are left out (three layers: the setting, and rows counted twice)",
        (
            _pinned("spark.sql.files.ignoreCorruptFiles", "false", "true"),
            Edit(
                f"{_SHELL}/files/rewrite.py",
                "        if expected not in (None, seen.rows):\n            raise",
                "        if False:\n            raise",
            ),
            ROWS,
        ),
        (f"{_SEAM}::test_a_page_that_cannot_be_read_fails_the_unit",),
        "spark",
    ),
    Mutation(
        "H31-identity",
        "a file system without identities is taken for a local disk",
        (
            Edit(
                f"{_SHELL}/hadoop/fs.py",
                '        if path.startswith("file:"):\n            return _local',
                "        if True:\n            return _local",
            ),
        ),
        (f"{_SEAM}::test_a_file_system_without_identities_is_refused",),
        "spark",
    ),
)
