"""The command `lakekeeper doctor`. The driver is a script here."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from lakekeeper_provider.doctor import checks
from lakekeeper_provider.doctor.checks import Desk
from lakekeeper_provider.shell import cli, program
from tests.unit.provider.doctor_runs import BAD, GOOD, command, job, ran

pytestmark = pytest.mark.usefixtures("empty")


def test_all_is_well(install, capfd):
    install("spark-submit", job(GOOD))
    code, found, err = ran(capfd)
    assert code == 0
    assert found["driver hdfs"] == GOOD
    assert found["shell spark-submit"]["outcome"] == "good"
    assert found["shell package"]["found"].startswith("lakekeeper ")
    for name in ("provider", "pool", "triggerer", "report_dir"):
        assert found[f"worker {name}"]["outcome"] == "not-asked"
        assert found[f"worker {name}"]["found"].startswith("not asked here, because")
    assert "Asking a driver: spark-submit" in err
    assert "a line of Spark" not in err


def test_a_bad_check_is_a_line_with_what_to_do_and_the_exit_code(install, capfd):
    install("spark-submit", job(GOOD, BAD, code=1))
    assert cli.main(["doctor"]) == 1
    lines = capfd.readouterr().out.splitlines()
    at = lines.index("bad       driver  trash: read /: off")
    assert lines[at + 1].strip() == "-> Set fs.trash.interval"
    assert lines[-1].startswith("1 bad: trash (driver); ")


def test_what_spark_prints_is_shown_on_demand(install, capfd):
    install("spark-submit", job(GOOD))
    assert "a line of Spark" in ran(capfd, "--verbose")[2]


@pytest.mark.parametrize(
    "words", [["-t", "sales.events"], ["--tables", "sales.a,sales.b"], ["--database", "sales"], []]
)
def test_the_tables_are_given_to_the_driver(install, capfd, words):
    install("spark-submit", "import sys\nprint('SEEN', *sys.argv[1:])\nsys.exit(3)")
    _, found, _ = ran(capfd, *words)
    seen = found["driver driver"]["found"]
    assert "exit code 3" in seen
    if words:
        assert words[-1] in seen
    assert seen.count("doctor.py") == 1


def test_a_wrong_name_of_a_table_is_a_wrong_call(install, capfd):
    install("spark-submit", job(GOOD))
    assert cli.main(["doctor", "--json", "--table", "events"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "a table as db.table" in err


@pytest.mark.parametrize(
    "text",
    [
        "password = hunter2",
        '{"password": "hunter2"}',
        "fs.s3a.secret.key=hunter2 hunter2",
        "Authorization: Bearer hunter2",
        "webhdfs://nn/?delegation=hunter2",
        "jdbc:postgresql://etl:hunter2@db/hive",
        "storage_access_key: hunter2",
    ],
)
def test_credentials_in_a_line_of_spark_are_masked(install, capfd, text):
    install("spark-submit", f"import sys\nsys.stderr.write('Error: ' + {text!r})\nsys.exit(1)")
    found = ran(capfd)[1]["driver driver"]["found"]
    assert "hunter2" not in found
    assert "******" in found


def test_no_spark_at_all(capfd):
    code, found, _ = ran(capfd)
    assert code == 1
    assert found["shell spark-submit"]["outcome"] == "bad"
    assert "spark3-submit" in found["shell spark-submit"]["action"]
    assert found["driver driver"]["outcome"] == "not-asked"


def test_a_wrong_file_is_a_check_and_no_driver_is_started(install, capfd, tmp_path):
    install("spark-submit", job(GOOD))
    path = tmp_path / "lakekeeper.yaml"
    path.write_text("blok_size_mb: 1\n")
    code, found, _ = ran(capfd, "-c", str(path))
    assert code == 1
    assert "did you mean 'block_size_mb'" in found["shell configuration"]["found"]
    assert found["driver driver"]["outcome"] == "not-asked"


def test_a_driver_of_cluster_mode_is_asked_in_client_mode(install, capfd, tmp_path):
    install("spark-submit", "import sys\nprint('SEEN', *sys.argv[1:])\nsys.exit(3)")
    path = tmp_path / "lakekeeper.yaml"
    path.write_text("spark_submit: {enabled: true, master: yarn, deploy_mode: cluster}\n")
    assert "--master yarn --deploy-mode client" in ran(capfd, "-c", str(path))[1]["driver driver"]["found"]


def test_the_file_has_all_and_no_credentials(install, capfd, tmp_path):
    secret = {**BAD, "found": "thrift://etl:hunter2@hms:9083 spark.ssl.keyPassword=hunter2"}
    install("spark-submit", job(secret, code=1))
    path = tmp_path / "doctor.json"
    code, found, err = ran(capfd, "--report", str(path))
    written = path.read_text()
    assert json.loads(written)["outcome"] == "failed"
    assert {f"{each['where']} {each['check']}" for each in json.loads(written)["checks"]} == set(found)
    assert "hunter2" not in written + err + json.dumps(found)
    assert "thrift://******@hms:9083" in written
    assert code == 1


def test_a_file_that_cannot_be_written(install, capfd, tmp_path):
    install("spark-submit", job(GOOD))
    assert cli.main(["doctor", "--report", str(tmp_path / "no" / "x.json")]) == 2
    assert "cannot write" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["--timeout", "0"], ["-t", "a.b", "-d", "a"], ["--dry-run"]])
def test_wrong_words(words):
    with pytest.raises(SystemExit) as ended:
        cli.main(["doctor", *words])
    assert ended.value.code == 2


def test_a_reader_that_is_gone_changes_nothing_in_the_exit_code(install):
    """As `lakekeeper doctor | head -1`."""
    install("spark-submit", job(GOOD, BAD, code=1))
    process = command("doctor")
    assert process.stdout is not None
    process.stdout.close()
    err = process.stderr.read() if process.stderr else ""
    assert process.wait(timeout=60) == 1
    assert "Traceback" not in err


def test_the_other_program_is_named(install, monkeypatch, capfd):
    install("spark-submit", job(GOOD))
    monkeypatch.setattr(program, "other_version", lambda: "0.0.6")
    found = ran(capfd)[1]["shell package"]
    assert found["outcome"] == "advice"
    assert "lakekeeper 0.0.6" in found["found"]


def test_the_last_line_counts_what_was_found():
    desk = Desk("shell")
    made = [desk.good("a", "t", "f"), desk.advice("b", "t", "f", "x"), desk.not_asked("c", "t", "no")]
    assert checks.summary(made) == "nothing is wrong: 1 good, 1 advice, 1 not-asked"
    assert not checks.is_bad(made)
    made.append(desk.bad("d", "t", "f", "x"))
    assert checks.summary(made).startswith("1 bad: d (shell); 1 good")
    assert checks.is_bad(made)


def test_help_is_for_a_person(capsys):
    with pytest.raises(SystemExit):
        cli.main(["doctor", "--help"])
    assert "Exit code 1" in capsys.readouterr().out
    assert shutil.which("spark-submit") is None


@pytest.mark.parametrize("kind", ["directory", "missing", "configuration", "pipe"])
def test_a_file_that_cannot_be_written_is_named_before_a_driver_is_started(install, capfd, tmp_path, kind):
    """Before: after ten minutes."""
    started, path = tmp_path / "started", tmp_path / "doctor.json"
    install("spark-submit", f"import pathlib\npathlib.Path({str(started)!r}).touch()")
    words = ["doctor", "--report", str(path / "x" if kind == "missing" else path)]
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "configuration":
        path.write_text("{}")
        words += ["-c", str(path)]
    assert cli.main(words) == 2
    assert capfd.readouterr().err.count("cannot write") == 1
    assert not started.exists()
    assert kind != "configuration" or path.read_text() == "{}"


def test_a_password_in_the_configuration_file_is_not_shown(install, capfd, tmp_path):
    path, written = tmp_path / "lakekeeper.yaml", tmp_path / "doctor.json"
    path.write_text("hive_server: etl:hunter2@hs2:10000\n")
    assert cli.main(["doctor", "-c", str(path), "--report", str(written)]) == 1
    out, err = capfd.readouterr()
    assert "hive_server: expected host:port" in out
    assert "hunter2" not in out + err + written.read_text()
