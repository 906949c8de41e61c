from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.options import config
from lakekeeper_provider.shell import cli, parsers, spark_command
from tests.unit.provider.config_files import config_file
from tests.unit.provider.readme import README_COMMAND, README_SHOWN, README_YAML

ROOT = Path(cli.__file__).resolve().parents[2]


def with_its_own_program(command: list[str]) -> list[str]:
    """Ours, and its bundle, as Lakekeeper's README has the program; and a driver's Python that exists here."""
    python = command.index("spark.pyspark.driver.python=python3")
    assert command[python - 2 : python] == ["spark.pyspark.python=./lakekeeper_env/bin/python", "--conf"]
    command = [*command[: python - 1], *command[python + 1 :]]
    at = command.index("--py-files")
    assert command[at + 1].endswith(".zip")
    assert command[at + 2].endswith("/spark_jobs/compact.py")
    return [*command[:at], "/opt/lakekeeper/run_lakekeeper.py", "compact", *command[at + 3 :]]


def test_the_yaml_of_lakekeepers_readme_gives_its_command(tmp_path):
    """Exactly the words that it shows, and the three settings of the YAML that it leaves out of the picture; but not
    Lakekeeper's own program, which would work without lease and journal."""
    arguments = parsers.build_parser().parse_args(["compact", "--table", "mydb.events"])
    command = spark_command.build_command(
        arguments, config.load(config_file(tmp_path, README_YAML)), tmp_path
    )
    command = with_its_own_program(command)
    assert command == README_COMMAND
    left_out = ["--executor-cores", "2", "--driver-memory", "2g"]
    left_out += ["--conf", "spark.yarn.kerberos.relogin.period=1h"]
    at = command.index("--executor-cores")
    assert command[at : at + len(left_out)] == left_out
    assert command[:at] + command[at + len(left_out) :] == README_SHOWN


def test_the_yaml_as_far_as_the_readme_shows_it_gives_the_shown_command(tmp_path):
    hidden = ("executor_cores", "driver_memory", "extra_conf", "spark.yarn.kerberos")
    shown = "\n".join(line for line in README_YAML.splitlines() if not line.strip().startswith(hidden))
    arguments = parsers.build_parser().parse_args(["compact", "--table", "mydb.events"])
    command = spark_command.build_command(arguments, config.load(config_file(tmp_path, shown)), tmp_path)
    assert with_its_own_program(command) == README_SHOWN


@pytest.mark.parametrize("name", ["run_lakekeeper.py", "run_beekeeper.py"])
def test_lakekeepers_own_program_is_not_started(tmp_path, spark_submit, caplog, name):
    text = f"spark_submit: {{enabled: true, script_path: /opt/lakekeeper/{name}}}"
    assert cli.main(["-c", config_file(tmp_path, text), "analyze", "--table", "a.b"]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    assert not any(name in word for word in argv)
    assert any(word.endswith("/spark_jobs/analyze.py") for word in argv)
    assert f"/opt/lakekeeper/{name} is ignored, and the jobs of this package are submitted" in caplog.text


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_config_file_may_stand_before_or_after_the_verb(tmp_path, spark_submit, place):
    option = ["-c", config_file(tmp_path, "spark_submit: {enabled: true, master: yarn}")]
    verb = ["analyze", "--database", "mydb"]
    assert cli.main([*option, *verb] if place == "before" else [*verb, *option]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    assert argv[:4] == ["--master", "yarn", "--deploy-mode", "client"]
    assert argv[-2:] == ["--database", "mydb"]


def test_without_a_file_the_bundled_job_runs_on_this_machine(spark_submit):
    assert cli.main(["compact", "--table", "mydb.events", "--dry-run", "--block-size", "128"]) == 0
    record = json.loads(spark_submit.read_text())
    argv = record["argv"]
    assert argv[:2] == ["--master", "local[*]"]
    script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/compact.py"))
    assert Path(argv[argv.index("--py-files") + 1]).name.startswith("lakekeeper-jobs-")
    assert argv[script + 1 :] == ["--table", "mydb.events", "--block-size", "128", "--dry-run"]
    assert record["request"] is None


def test_what_the_file_changes_travels_in_the_request(tmp_path, spark_submit):
    text = "block_size_mb: 256\nlog_level: INFO\nbackup_prefix: __b\ntables: {a.b: {min_input_files: 5}}"
    assert cli.main(["-c", config_file(tmp_path, text), "compact", "--table", "a.b"]) == 0
    assert json.loads(spark_submit.read_text())["request"] == {
        "schema_version": 1,
        "settings": {"block_size_mb": 256, "backup_prefix": "__b"},
        "tables": {"a.b": {"min_input_files": 5}},
    }


def test_a_driver_on_the_cluster_gets_the_request_shipped(tmp_path, spark_submit):
    text = "block_size_mb: 256\nspark_submit: {enabled: true, deploy_mode: cluster}"
    assert cli.main(["-c", config_file(tmp_path, text), "compact", "--table", "a.b"]) == 0
    record = json.loads(spark_submit.read_text())
    assert record["argv"][-2:] == ["--request", "lakekeeper-request.json"]
    assert record["request"]["settings"] == {"block_size_mb": 256}
    assert "spark.yarn.maxAppAttempts=1" in record["argv"]


@pytest.mark.parametrize("limit", [[], ["--limit", "5"]])
def test_history_is_a_job_like_the_others(spark_submit, limit):
    assert cli.main(["history", "--table", "mydb.events", *limit]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/history.py"))
    assert Path(argv[script]).is_file()
    assert argv[script + 1 :] == ["--table", "mydb.events", *limit]


def test_history_through_a_launcher_names_its_verb(tmp_path, spark_submit):
    text = "spark_submit: {enabled: true, script_path: /opt/run.py}"
    assert cli.main(["-c", config_file(tmp_path, text), "history", "--database", "mydb", "--limit", "2"]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    assert argv[-6:] == ["/opt/run.py", "history", "--database", "mydb", "--limit", "2"]


def test_forget_needs_a_run_and_passes_its_confirmation_on(spark_submit):
    assert cli.main(["forget", "--table", "mydb.events", "--run-id", "r1", "--yes"]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/forget.py"))
    assert Path(argv[script]).is_file()
    assert argv[script + 1 :] == ["--table", "mydb.events", "--run-id", "r1", "--yes"]


@pytest.mark.parametrize("flag", [[], ["--read-data"]])
def test_check_is_a_job_like_the_others(spark_submit, flag):
    assert cli.main(["check", "--database", "mydb", *flag]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/check.py"))
    assert Path(argv[script]).is_file()
    assert argv[script + 1 :] == ["--database", "mydb", *flag]


def test_a_dropped_table_is_cleaned_up_by_its_location(spark_submit):
    assert cli.main(["cleanup", "--location", "hdfs://nn/w/events", "--older-than", "7d"]) == 0
    argv = json.loads(spark_submit.read_text())["argv"]
    script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/cleanup.py"))
    assert argv[script + 1 :] == ["--location", "hdfs://nn/w/events", "--older-than", "7d"]


def test_secrets_among_the_spark_properties_are_not_printed(tmp_path, spark_submit, capsys):
    conf = "{spark.ssl.keyPassword: hunter2, spark.hadoop.fs.s3a.access.key: AKIA42, spark.ui.port: 4050}"
    text = f"spark_submit: {{enabled: true, extra_conf: {conf}}}"
    assert cli.main(["-c", config_file(tmp_path, text), "analyze", "--table", "a.b"]) == 0
    printed = capsys.readouterr().err
    assert "spark.ssl.keyPassword=******" in printed
    assert "spark.ui.port=4050" in printed
    assert "hunter2" not in printed
    assert "AKIA42" not in printed
    assert "spark.ssl.keyPassword=hunter2" in json.loads(spark_submit.read_text())["argv"]


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_the_exit_code_of_the_job_passes_through(spark_submit, monkeypatch, code):
    monkeypatch.setenv("CODE", str(code))
    assert cli.main(["rollback", "--table", "a.b"]) == code


def test_nothing_of_it_stays_on_disk(tmp_path, spark_submit, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    cli.main(["analyze", "--table", "a.b"])
    assert list((tmp_path / "temp").iterdir()) == []


def test_a_missing_spark_submit_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["analyze", "--table", "a.b"]) == 2
    assert "'spark-submit' was not found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["rollback"], "one of the arguments -t/--table --tables -d/--database is required"),
        (["compact", "--table", "a.b", "--database", "a"], "not allowed with"),
        (
            ["compact", "--table", "a.b", "--block-size", "x"],
            "expected a whole number from 1 to 16384, got 'x'",
        ),
        (["rollback", "--table", "a.b", "--block-size", "1"], "there is no option --block-size"),
        (["repair", "--table", "a.b"], "there is no command 'repair'"),
        (
            ["history", "--table", "a.b", "--limit", "0"],
            "expected a whole number from 1 to 1000000000, got '0'",
        ),
        (["history", "--table", "a.b", "--run-id", "r"], "there is no option --run-id"),
        (["cleanup", "--table", "a.b", "--limit", "1"], "there is no option --limit"),
        (["compact", "--location", "hdfs://nn/w/events"], "there is no option --location"),
        (["cleanup", "--location", "/w/events", "--table", "a.b"], "not allowed with"),
        (["forget", "--table", "a.b", "--yes"], "the following arguments are required: --run-id"),
    ],
)
def test_wrong_usage_ends_with_2(capsys, argv, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(argv)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["compact"], "give --table, --tables or --database, or one of these keys in the configuration file"),
        (["compact", "--table", "events"], "expected a table as db.table, got 'events'"),
        (["compact", "--table", "a.b", "--where", "x=1", "--partitions", '{"x": "1"}'], "mutually exclusive"),
        (
            ["analyze", "--table", "a.b", "--where", "x=1", "--idle-for", "7d"],
            "where and idle_for are mutually",
        ),
        (
            ["-c", "nowhere.yaml", "compact", "--table", "a.b"],
            "cannot read the configuration file nowhere.yaml",
        ),
    ],
)
def test_mistakes_are_one_line(spark_submit, capsys, argv, message):
    assert cli.main(argv) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["analyze"],
        ["compact"],
        ["rollback"],
        ["cleanup"],
        ["history"],
        ["forget"],
        ["check"],
        ["generate-config"],
    ],
)
def test_help_explains_every_argument(capsys, argv):
    with pytest.raises(SystemExit) as stop:
        cli.main([*argv, "--help"])
    assert stop.value.code == 0
    assert "usage: lakekeeper" in capsys.readouterr().out


def test_starts_without_airflow():
    program = (
        "import sys\n"
        "sys.modules['airflow'] = None\n"
        "from lakekeeper_provider.shell.cli import main\n"
        "sys.exit(main(['generate-config', '-o', '-']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lakekeeper comp", {"compact "}),
        ("lakekeeper rollback --on-", {"--on-new-data "}),
        ("lakekeeper rollback --on-new-data ", {"keep ", "refuse "}),
    ],
)
def test_a_shell_completes_commands_options_and_values(tmp_path, line, words):
    out = tmp_path / "words"
    shell = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": "\n"}
    env = {**os.environ, **shell, "_ARGCOMPLETE_STDOUT_FILENAME": str(out), "COMP_TYPE": "9"}
    subprocess.run([sys.executable, "-m", "lakekeeper_provider.shell.cli"], env=env, cwd=ROOT, check=False)
    assert {word.rstrip() + " " for word in out.read_text().split("\n") if word.strip()} == words
