"""Guards of what is in the files: formats, types, places and values. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Edit, Mutation

_CORE, _SHELL = "spark_jobs/core", "spark_jobs/shell"
_GUARDS = "tests/crash/test_guards.py"
_BACK = "tests/crash/test_guards_back.py"
_STATEMENTS = "tests/unit/core/test_statements.py"
_DECIDING = "tests/unit/core/test_deciding.py"
_RECORDS = "tests/unit/core/test_records.py"
_OFF = "if False:"

ROWS = Edit(f"{_CORE}/footers.py", "    if rows != before.rows:\n", f"    {_OFF}\n")
TYPES = Edit(f"{_CORE}/footers.py", "        if was != now:\n", f"        {_OFF}\n")

FILES = (
    Mutation(
        "H7-types",
        "two types of one column are not noticed",
        (Edit(f"{_CORE}/footers.py", "            if before != kind:\n", f"            {_OFF}\n"),),
        (f"{_RECORDS}::test_conflicting_types_and_foreign_int96_are_refused",),
    ),
    Mutation(
        "H13-format",
        "the SerDe alone tells the format",
        (
            Edit(
                f"{_CORE}/eligibility.py",
                '        return _FORMATS.get((self.input_format or "", self.serde or ""))\n',
                "        return next((kind for (_, serde), kind in _FORMATS.items() if serde == self.serde), None)\n",
            ),
        ),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H13-partition",
        "a partition has the format of its table",
        (
            Edit(
                f"{_SHELL}/stages/survey.py",
                "found = eligibility.check_storage(self.storages[unit], what)",
                "found = self.facts.storage.format",
            ),
        ),
        (f"{_BACK}::TestLeftAlone::test_a_partition_of_another_format_than_its_table",),
    ),
    Mutation(
        "H13-marks",
        "nobody looks for another table format's folders",
        (Edit(f"{_SHELL}/stages/survey.py", "    _check_root(cluster, facts)\n", ""),),
        (f"{_BACK}::TestLeftAlone::test_another_table_format_under_the_root",),
    ),
    Mutation(
        "H14-int96",
        "INT96 of an unknown writer is rewritten",
        (
            Edit(
                f"{_CORE}/footers.py",
                'if any("int96" in kind for kind in footer.leaves.values()) and _SPARK_VERSION not in',
                "if False and None not in",
            ),
        ),
        (f"{_RECORDS}::test_conflicting_types_and_foreign_int96_are_refused",),
    ),
    Mutation(
        "H15-types",
        "what Spark makes of a type is not looked at",
        (TYPES,),
        (f"{_RECORDS}::test_what_was_written_must_be_what_was_read",),
    ),
    Mutation(
        "H16",
        "columns by position do not need files of one schema",
        (
            Edit(
                f"{_SHELL}/stages/inspection.py",
                "    if (positional(table.facts) or nameless) and not profile.uniform:\n",
                f"    {_OFF}\n",
            ),
        ),
        (f"{_BACK}::TestFiles::test_columns_by_position_need_files_of_one_schema",),
    ),
    Mutation(
        "H17-select",
        "partition values are compared as numbers",
        (
            Edit(
                f"{_CORE}/selection.py",
                "key in values and values[key] == value for key",
                'key in values and (values[key] or "").lstrip("0") == (value or "").lstrip("0") for key',
            ),
        ),
        (f"{_DECIDING}::test_partition_specs_select_by_the_text_that_the_metastore_holds",),
    ),
    Mutation(
        "H17-quotes",
        "values go into SQL as they are",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                'escaped = text.replace("\\\\", "\\\\\\\\").replace("\'", "\\\\\'")',
                "escaped = text",
            ),
        ),
        (f"{_STATEMENTS}::test_values_are_quoted_and_not_interpreted",),
    ),
    Mutation(
        "H17-decode",
        "a location is read as it is encoded",
        (
            Edit(
                f"{_SHELL}/hadoop/fs.py",
                'return unquote(location).rstrip("/")',
                'return location.rstrip("/")',
            ),
        ),
        (f"{_STATEMENTS}::test_a_location_is_decoded_once",),
    ),
    Mutation(
        "H27-bucketed",
        "bucketed tables are compacted",
        (
            Edit(
                f"{_CORE}/eligibility.py",
                '    if facts.bucketed and not (by_hive and bucketing == "ignore"):\n',
                f"    {_OFF}\n",
            ),
        ),
        (f"{_DECIDING}::test_tables_are_refused_by_code", f"{_DECIDING}::test_plain_external_tables_pass"),
    ),
    Mutation(
        "H27-skewed",
        "skewed tables are compacted",
        (
            Edit(
                f"{_CORE}/eligibility.py",
                '    if any("skew" in feature.lower() for feature in facts.unsupported):\n',
                f"    {_OFF}\n",
            ),
        ),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H28",
        "the backup table is made like its source",
        (
            Edit(
                f"{_SHELL}/hadoop/metastore.py",
                'f"CREATE EXTERNAL TABLE {_quoted(backup)} ({columns}){partitioned} {stored}"',
                'f"CREATE TABLE {_quoted(backup)} LIKE {source.name}"',
            ),
        ),
        (f"{_STATEMENTS}::test_a_backup_table_is_defined_by_what_we_say_and_nothing_else",),
    ),
    Mutation(
        "H29-rows",
        "rows are not counted after the rewrite",
        (ROWS,),
        (f"{_RECORDS}::test_what_was_written_must_be_what_was_read",),
    ),
    Mutation(
        "H29-empty",
        "files of no length are read",
        (
            Edit(
                f"{_SHELL}/stages/inspection.py",
                'files = [f"{location}/{f.name}" for f in manifest.data if f.length]',
                'files = [f"{location}/{f.name}" for f in manifest.data]',
            ),
        ),
        (f"{_BACK}::TestFiles::test_files_of_no_length_are_dropped_and_recorded",),
    ),
    Mutation(
        "H31-scheme",
        "a rename on an object store passes for atomic",
        (Edit(f"{_CORE}/eligibility.py", '("hdfs", "viewfs", "file")', '("hdfs", "viewfs", "file", "s3a")'),),
        (f"{_DECIDING}::test_tables_are_refused_by_code",),
    ),
    Mutation(
        "H31-overlap",
        "shared directories are compacted",
        (Edit(f"{_SHELL}/stages/survey.py", "        if unit.key in self.overlaps:\n", f"        {_OFF}\n"),),
        (f"{_BACK}::TestLeftAlone::test_partitions_that_share_a_directory",),
    ),
    Mutation(
        "H31-prefix",
        "a path that begins like another is inside it",
        (
            Edit(
                f"{_CORE}/overlap.py",
                '(inner.rstrip("/") + "/").startswith(outer.rstrip("/") + "/")',
                "inner.startswith(outer)",
            ),
        ),
        (f"{_DECIDING}::test_shared_and_nested_locations_overlap_but_prefixes_of_names_do_not",),
    ),
    Mutation(
        "H36-codec",
        "the codec is the session's default",
        (Edit(f"{_CORE}/footers.py", "return (seen[0][0] if seen else", 'return ("snappy" if seen else'),),
        (f"{_RECORDS}::test_a_profile_unites_all_footers",),
    ),
    Mutation(
        "H36-files",
        "every unit becomes one file",
        (Edit(f"{_CORE}/health.py", "max(1, math.ceil(size / thresholds.target))", "1"),),
        (f"{_DECIDING}::test_small_files_are_judged_by_the_smaller_of_average_and_median",),
    ),
)
