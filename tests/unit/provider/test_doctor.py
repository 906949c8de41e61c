"""What `lakekeeper doctor` says of this machine, and of a driver that it starts. The driver is a script here."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.doctor import checks, driver
from lakekeeper_provider.doctor import process as doctor_process
from lakekeeper_provider.doctor.checks import Check, Desk
from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.shell import cli, program
from tests.harness.process_table import processes_naming
from tests.harness.waiting import wait_for

GOOD = {
    "check": "hdfs",
    "where": "driver",
    "outcome": "good",
    "tried": "read /",
    "found": "ok",
    "action": None,
}
BAD = {**GOOD, "check": "trash", "outcome": "bad", "found": "off", "action": "Set fs.trash.interval"}
REPORTS = """
import pathlib, sys
argv = sys.argv[1:]
print("a line of Spark", flush=True)
pathlib.Path(argv[argv.index("--report") + 1]).write_text({report!r})
print("LAKEKEEPER_REPORT", argv[argv.index("--report-nonce") + 1], "torn", flush=True)
sys.exit({code})
"""
pytestmark = pytest.mark.usefixtures("empty")


def job(*found: dict, code: int = 0, ended: str | None = "2026-02-24T01:03:10Z") -> str:
    data = {"schema_version": 1, "verb": "doctor", "outcome": "failed" if code else "done", "checks": found}
    data["ended"] = ended
    return REPORTS.format(report=json.dumps(data), code=code)


def ran(capfd, *words: str) -> tuple[int, dict[str, dict], str]:
    """Returns the exit code, the checks by place and name, and standard error."""
    code = cli.main(["doctor", "--json", *words])
    out, err = capfd.readouterr()
    return code, {f"{each['where']} {each['check']}": each for each in json.loads(out)["checks"]}, err


def command(*words: str) -> subprocess.Popen[str]:
    """Starts `lakekeeper` as a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    return subprocess.Popen(
        [sys.executable, "-m", "lakekeeper_provider.shell.cli", *words],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


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


def test_spark_2_is_named(install, capfd):
    """As the scripts of the jobs say it (test_start has them)."""
    said = "doctor.py: error: it needs Spark 3.3 or later, and this is Spark 2.4.8 in /opt/spark2"
    install("spark-submit", f"import sys\nsys.stderr.write({said!r} + '\\n')\nsys.exit(2)")
    code, found, _ = ran(capfd)
    assert code == 1
    assert said in found["driver driver"]["found"]


def test_a_driver_without_a_report(install, capfd):
    trace = "java.net.ConnectException: refused by nn:8020\\n\\tat org.apache.X.y(X.java:1)\\nended\\n"
    install("spark-submit", f'import sys\nsys.stderr.write("{trace}")\nsys.exit(1)')
    found = ran(capfd)[1]["driver driver"]
    assert found["outcome"] == "bad"
    assert "refused by nn:8020" in found["found"]
    assert "--verbose" in found["action"]


def test_a_driver_that_does_not_end_is_ended_with_its_children(install, capfd, tmp_path):
    """As spark-submit, which is a shell script that starts Java."""
    child = tmp_path / "child"
    body = (
        "import subprocess, time\n"
        f"subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(600)', {str(child)!r}])\n"
        "print('Application report (state: ACCEPTED)', flush=True)\n"
        "time.sleep(600)"
    )
    install("spark-submit", body)
    found = ran(capfd, "--timeout", "3")[1]["driver driver"]
    assert found["outcome"] == "bad"
    assert "it was ended after 3 s, without a report: Application report (state: ACCEPTED)" in found["found"]
    assert processes_naming(child) == []


def test_a_child_that_does_not_heed_the_first_signal_is_killed(install, capfd, tmp_path, monkeypatch):
    """Before: only the first process was looked at, and its child kept the command waiting for ever."""
    monkeypatch.setattr(doctor_process, "_GRACE", 1)
    child = tmp_path / "child"
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    start = f"subprocess.Popen([{sys.executable!r}, '-c', {code!r}, {str(child)!r}])"
    body = f"import subprocess, time\n{start}\ntime.sleep(600)"
    install("spark-submit", body)
    assert ran(capfd, "--timeout", "3")[1]["driver driver"]["outcome"] == "bad"
    assert processes_naming(child) == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_driver_ends_with_the_command(install, empty, tmp_path, sign):
    """It is in a session of its own, where no signal of the terminal reaches it."""
    started, child = tmp_path / "started", tmp_path / "child"
    install(
        "spark-submit",
        f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(600)  # {child}",
    )
    process = command("doctor")
    wait_for("the driver has started", started.exists)
    process.send_signal(sign)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + sign
    assert err.splitlines()[-1] == "lakekeeper: interrupted"
    assert processes_naming(empty / "spark-submit") == []


def test_checks_that_were_made_before_a_driver_was_ended_are_shown(install, capfd):
    body = job(GOOD, ended=None).replace("sys.exit(0)", "import time\ntime.sleep(600)")
    install("spark-submit", body)
    _, found, _ = ran(capfd, "--timeout", "3")
    assert found["driver hdfs"] == GOOD
    assert "it was ended after 3 s" in found["driver driver"]["found"]


@pytest.mark.parametrize(
    "body",
    [job(GOOD, ended=None), job(), job(GOOD).replace("sys.exit(0)", "sys.exit(137)")],
    ids=["not all", "none", "died"],
)
def test_a_driver_that_has_not_made_all_checks_is_bad(install, capfd, body):
    """Before: a job that died after it had begun its report counted as if nothing were wrong."""
    install("spark-submit", body)
    code, found, _ = ran(capfd)
    assert code == 1
    assert found["driver driver"]["outcome"] == "bad"


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


@pytest.mark.parametrize("wrong", [{**GOOD, "outcome": "fine"}, {**GOOD, "found": 3}, "x", {}, None])
def test_checks_that_are_none(wrong):
    with pytest.raises(ReportError):
        Check.of_job(wrong)


def test_a_report_of_another_program_is_a_bad_driver(install, capfd):
    install("spark-submit", job({**GOOD, "outcome": "fine"}))
    assert ran(capfd)[1]["driver driver"]["outcome"] == "bad"
    install("spark-submit", job(GOOD).replace('"doctor"', '"analyze"'))
    assert "analyze" in ran(capfd)[1]["driver driver"]["found"]


def test_texts_of_a_job_are_lines():
    check = Check.of_job({**GOOD, "found": "a\nb\x1b[2J"})
    assert len(check.lines()) == 1
    assert "\x1b" not in check.lines()[0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["x", "doctor.py: error: no", "py4j.Py4JError: y"], "doctor.py: error: no"),
        (["a", "java.io.IOException: b", "\tat c", "d"], "java.io.IOException: b"),
        (["a", " ", "b"], "b"),
        (
            ["java.io.IOException: b", "26/11/29 WARN Utils: java.net.BindException: c"],
            "java.io.IOException: b",
        ),
        (["WARN Utils: java.net.BindException: c", "state: ACCEPTED"], "state: ACCEPTED"),
        (["INFO all fine, 0 errors", "Killed"], "Killed"),
        ([], "it printed nothing"),
    ],
)
def test_reason(lines, said):
    assert driver.reason(lines) == said


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


@pytest.mark.parametrize(
    "report",
    [
        {"checks": 5},
        {"checks": [GOOD], "tables": 5},
        {"checks": [GOOD], "error": 5, "ended": None},
        {"checks": [GOOD], "error": {"a": 1}},
    ],
)
def test_a_report_of_wrong_types_is_a_bad_driver(install, capfd, report):
    """Before: a traceback."""
    data = {"schema_version": 1, "verb": "doctor", "outcome": "done", "ended": "x", **report}
    install("spark-submit", REPORTS.format(report=json.dumps(data), code=0))
    assert ran(capfd)[1]["driver driver"]["outcome"] == "bad"


@pytest.mark.parametrize("content", [b"[" * 200_000, b"\xff\xfe{}", b'{"schema_version": 1'])
def test_a_report_that_is_no_json_is_a_bad_driver(install, capfd, content):
    body = REPORTS.format(report="", code=0).replace("write_text('')", f"write_bytes({content!r})")
    install("spark-submit", body)
    assert "not valid JSON" in ran(capfd)[1]["driver driver"]["found"]


def test_a_check_that_is_none_hides_no_other(install, capfd):
    install("spark-submit", job({**GOOD, "outcome": "fine"}, BAD, code=1))
    _, found, _ = ran(capfd)
    assert found["driver trash"] == BAD
    assert found["driver driver"]["outcome"] == "bad"


def test_a_report_that_says_it_has_not_ended_is_not_complete(install, capfd):
    install("spark-submit", job(GOOD, ended=""))
    assert ran(capfd)[1]["driver driver"]["outcome"] == "bad"


def test_a_directory_that_cannot_be_removed_hides_no_check(install, capfd):
    """A program still writes there. Before: all checks of the driver were lost."""
    body = job(GOOD).replace("sys.exit(0)", "here = pathlib.Path(argv[argv.index('--report') + 1]).parent\n")
    body += "pid = __import__('os').fork()\nif pid: sys.exit(0)\n"
    body += "for i in range(300): (here / f'{i}').touch(); __import__('time').sleep(0.001)\n"
    install("spark-submit", body)
    assert ran(capfd)[1]["driver hdfs"] == GOOD


@pytest.mark.parametrize(
    ("body", "said"),
    [("", "it printed nothing"), ("import os\nos.kill(os.getpid(), 9)", "it died of signal 9")],
)
def test_where_there_is_no_line_none_is_promised(install, capfd, body, said):
    """Before: "The lines of spark-submit have the reason"."""
    install("spark-submit", body)
    found = ran(capfd)[1]["driver driver"]
    assert said in found["found"]
    assert found["action"] == "Start spark-submit --version by hand"


def test_a_program_that_cannot_be_started(install, empty, capfd):
    install("spark-submit", "", interpreter="/no/such/interpreter")
    found = ran(capfd)[1]["driver driver"]
    assert found["found"].startswith("it cannot be started: ")
    assert "by hand" in found["action"]


def test_no_room_for_temporary_files(install, capfd, monkeypatch):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device", "/full")

    install("spark-submit", job(GOOD))
    monkeypatch.setattr("tempfile.mkdtemp", full)
    found = ran(capfd)[1]["driver driver"]
    assert "No space left on device: '/full'" in found["found"]
    assert "TMPDIR" in found["action"]


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
    assert "cannot write" in capfd.readouterr().err
    assert not started.exists()
    assert kind != "configuration" or path.read_text() == "{}"


def test_a_password_in_the_configuration_file_is_not_shown(install, capfd, tmp_path):
    path, written = tmp_path / "lakekeeper.yaml", tmp_path / "doctor.json"
    path.write_text("hive_server: etl:hunter2@hs2:10000\n")
    assert cli.main(["doctor", "-c", str(path), "--report", str(written)]) == 1
    out, err = capfd.readouterr()
    assert "hive_server: expected host:port" in out
    assert "hunter2" not in out + err + written.read_text()
