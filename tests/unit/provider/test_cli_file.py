"""What the configuration file names for the command line."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.shell import cli
from tests.unit.provider.config_files import config_file


@pytest.mark.parametrize(
    ("content", "flags"),
    [
        ("database: mydb", ["--database", "mydb"]),
        ("table: mydb.events", ["--table", "mydb.events"]),
        ("tables: [mydb.events, mydb.logs]", ["--tables", "mydb.events,mydb.logs"]),
    ],
)
def test_the_file_names_the_tables_where_the_command_line_does_not(tmp_path, spark_submit, content, flags):
    path = config_file(tmp_path, content)
    assert cli.main(["compact", "-c", path]) == 0
    assert json.loads(spark_submit.read_text())["argv"][-2:] == flags
    assert cli.main(["compact", "-c", path, "-t", "mydb.other"]) == 0
    assert json.loads(spark_submit.read_text())["argv"][-2:] == ["--table", "mydb.other"]
    with pytest.raises(SystemExit):
        cli.main(["rollback", "-c", path])


def test_a_cleanup_of_the_tables_of_a_file_needs_a_retention(tmp_path, spark_submit, capsys):
    path = config_file(tmp_path, "tables: [mydb.events, mydb.logs]")
    for words in (["cleanup", "-c", path], ["cleanup", "-c", path, "--keep-last", "0"]):
        assert cli.main(words) == 2
        assert "cleanup needs a retention" in capsys.readouterr().err
    assert not spark_submit.exists()
    for words in (["cleanup", "-c", path, "--keep-last", "1"], ["cleanup", "-c", path, "--older-than", "7d"]):
        assert cli.main(words) == 0
    for text in ("table: a.b\nolder_than: 7d", "tables: {a.b: {older_than: 7d}}\ntable: a.b"):
        assert cli.main(["cleanup", "-c", config_file(tmp_path, text)]) == 0
    assert cli.main(["cleanup", "-c", path, "-t", "mydb.other"]) == 0


def test_a_cleanup_of_a_database_without_a_retention_starts_no_spark(tmp_path, spark_submit, capsys):
    assert cli.main(["cleanup", "--database", "mydb"]) == 2
    assert "cleanup needs a retention" in capsys.readouterr().err
    path = config_file(tmp_path, "tables: {mydb.logs: {older_than: 7d}}")
    assert cli.main(["cleanup", "-c", path, "--database", "mydb"]) == 2  # the other tables have none
    assert not spark_submit.exists()
    for words in (
        ["--older-than", "0d"],
        ["--keep-last", "1"],
        ["-c", config_file(tmp_path, "keep_last: 1")],
    ):
        assert cli.main(["cleanup", "--database", "mydb", *words]) == 0
    assert cli.main(["cleanup", "--table", "mydb.events"]) == 0  # named: all of its originals are meant


def test_a_file_names_one_thing(tmp_path, spark_submit, capsys):
    path = config_file(tmp_path, "database: mydb\ntable: mydb.events")
    assert cli.main(["compact", "-c", path]) == 2
    assert "give exactly one of table, tables and database" in capsys.readouterr().err
    assert not spark_submit.exists()
