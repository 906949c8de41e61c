from __future__ import annotations

from pathlib import Path

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.window import MaintenanceWindow


def load(tmp_path: Path, text: str) -> config.Config:
    path = tmp_path / "lakekeeper.yaml"
    path.write_text(text)
    return config.load(path)


def test_without_a_file_everything_is_at_its_default():
    assert config.load(None) == config.Config()


def test_an_empty_file_is_fine(tmp_path):
    assert load(tmp_path, "# nothing yet\n") == config.Config()


def test_reads_every_section(tmp_path):
    found = load(
        tmp_path,
        """
        block_size_mb: 256
        compaction_ratio_threshold: 5
        dry_run: false
        log_level: debug
        sort_columns: {Sales.Events: [date, user_id], sales.logs: ts}
        tables:
          sales.flat: {min_input_files: 10, sort_columns: [id]}
        windows:
          nightly: {start: 22:00, end: 05:00, timezone: Europe/Paris, days: [mon]}
        spark_submit:
          enabled: true
          num_executors: 10
          extra_conf: {spark.speculation: false, spark.sql.shuffle.partitions: 400}
          extra_files: [/etc/hive/conf/hive-site.xml]
        """,
    )
    assert found.settings == {
        "block_size_mb": 256,
        "compaction_ratio_threshold": 5.0,
        "dry_run": False,
        "log_level": "DEBUG",
        "sort_columns": {"sales.events": ["date", "user_id"], "sales.logs": ["ts"]},
    }
    assert found.tables == {"sales.flat": {"min_input_files": 10, "sort_columns": ["id"]}}
    assert found.windows == {"nightly": MaintenanceWindow("22:00", "05:00", "Europe/Paris", ["mon"])}
    assert found.spark_submit.extra_conf == {
        "spark.speculation": "false",
        "spark.sql.shuffle.partitions": "400",
    }
    assert found.spark_submit.num_executors == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("block_size: 3", "unknown key block_size.*did you mean 'block_size_mb'"),
        ("spark_submit: {deploy: x}", "unknown key spark_submit.deploy.*'deploy_mode'"),
        ("tables: {a.b: {blok_size_mb: 3}}", "unknown key tables.a.b.blok_size_mb.*'block_size_mb'"),
        ("tables: {a.b: {log_level: INFO}}", "unknown key tables.a.b.log_level"),
        ("partitions: [{a: b}]", "unknown key partitions"),
        ("block_size_mb: many", "block_size_mb: expected a whole number from 1 to 16384, got 'many'"),
        ("block_size_mb: 1.5", "block_size_mb: expected a whole number from 1 to 16384, got 1.5"),
        ("block_size_mb: true", "block_size_mb: .*got True"),
        ("compaction_ratio_threshold: -1", "compaction_ratio_threshold: .*got -1"),
        ("dry_run: maybe", "dry_run: expected true or false, got 'maybe'"),
        ("dry_run: 1", "dry_run: expected true or false, got 1"),
        ("log_level: LOUD", "log_level: expected one of DEBUG, INFO, WARNING, ERROR, got 'LOUD'"),
        ("on_failure: undoo", "got 'undoo'.*did you mean 'undo'"),
        ("sort_columns: [a, b]", "sort_columns: expected a mapping"),
        ("sort_columns: {events: [a]}", "expected a table as db.table, got 'events'"),
        ("spark_submit: {num_executors: ten}", "spark_submit.num_executors: .*got 'ten'"),
        ("spark_submit: {deploy_mode: clster}", "spark_submit.deploy_mode: .*did you mean 'cluster'"),
        ("windows: {nightly: {start: '22:00'}}", "windows.nightly: window: end is missing"),
        ("- a\n- b", "the file: expected a mapping"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_mistakes_name_the_file_and_the_value(tmp_path, text, message):
    with pytest.raises(UsageError, match=message) as error:
        load(tmp_path, text)
    assert "lakekeeper.yaml" in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere\.yaml: No such file"):
        config.load(tmp_path / "nowhere.yaml")


def test_a_window_is_found_by_name_and_a_wrong_name_is_answered(tmp_path):
    found = load(tmp_path, "windows: {nightly: {start: '22:00', end: '05:00'}}")
    assert found.window("nightly") == MaintenanceWindow("22:00", "05:00")
    with pytest.raises(UsageError, match="did you mean 'nightly'"):
        found.window("nigthly")


@pytest.mark.parametrize(
    "content",
    [
        *(
            "hunter2=",
            "h:5432:d:u:hunter2",
            "machine nn login u password hunter2",
            "- hunter2",
            "[core]\nk = hunter2",
        ),
        *(
            "a:\n\thunter2",
            "x: *hunter2",
            "!!python/object:hunter2 x",
            "KEY=hunter2: x",
            "'hunter2",
            "? [hunter2]\n: x",
        ),
    ],
    ids=repr,
)
def test_no_error_shows_what_is_in_a_file_that_is_no_configuration(tmp_path, content):
    """Its path may be a parameter of a DAG run: whoever may give it must not read the files of the worker."""
    with pytest.raises(UsageError, match=r"lakekeeper\.yaml") as error:
        load(tmp_path, content)
    assert "hunter2" not in str(error.value)


def test_an_error_of_yaml_names_its_place(tmp_path):
    with pytest.raises(UsageError, match=r"is not valid YAML: line 3, column 1$"):
        load(tmp_path, "older_than: 7d\nwindows: [\n")


@pytest.mark.parametrize(
    "text", ["at: 2026-99-99", "at: 2026-02-30 25:61:61", "n: " + "1" * 6000, "[" * 3000]
)
def test_a_value_that_yaml_cannot_build_is_a_wrong_file(tmp_path, text):
    with pytest.raises(UsageError, match=r"lakekeeper\.yaml"):
        load(tmp_path, text)
