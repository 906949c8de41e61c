"""What the command `lakekeeper` prints of a job's report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lakekeeper_provider.report import report
from lakekeeper_provider.shell import cli
from tests.unit.provider.config_files import config_file
from tests.unit.provider.test_report import table
from tests.unit.provider.test_report_units import flagged

LOST = "ATTRIBUTE_NOT_KEPT: the owner of /t is not kept: you are not a superuser"
#: A job that prints a line, writes its report where it is told to, and prints the summary.
JOB = """
import os, pathlib, sys
report = pathlib.Path({report!r}).read_text()
print("a line of the job", flush=True)
argv = sys.argv[1:]
if "--report" in argv:
    pathlib.Path(argv[argv.index("--report") + 1]).write_text(report)
nonce = argv[argv.index("--report-nonce") + 1 :][:1] if "--report-nonce" in argv else []
print("LAKEKEEPER_REPORT", *nonce, report, flush=True)
if {code} < 0:
    os.kill(os.getpid(), -{code})
sys.exit({code})
"""
#: The same, without its line: it died, or prints the line as it would without the nonce, or with another one.
SILENT = JOB.replace('print("LAKEKEEPER_REPORT", *nonce, report, flush=True)', "pass")
FORGED = JOB.replace("*nonce, report", "report")
OTHER_NONCE = JOB.replace("*nonce, report", '"0123", report')
Job = Callable[..., None]


def report_of(verb: str, *tables: dict, outcome: str = "done") -> dict:
    data = {"schema_version": 1, "verb": verb, "run_id": "r1", "outcome": outcome, "error": None}
    return {**data, "tables": list(tables)}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Install a `spark-submit` that runs a job with this report."""

    def install(report: dict, code: int = 0, program: str = JOB) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        (tmp_path / "given.json").write_text(json.dumps(report))
        script = folder / "spark-submit"
        body = program.format(report=str(tmp_path / "given.json"), code=code)
        script.write_text(f"#!{sys.executable}\n{body}")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


def test_an_analysis_is_shown_as_in_the_task_log_and_not_as_json(job, capfd):
    job(report_of("analyze", table(units=[flagged(1), flagged(2)], warnings=[LOST])))
    assert cli.main(["analyze", "--table", "sales.events"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:2] == ["a line of the job", "analyze: done, 1 table, run r1"]
    assert out.count("  date=2026-02-0") == 2
    assert "LAKEKEEPER_REPORT" not in out
    assert f"warning: sales.events: {LOST}" in err.splitlines()


@pytest.mark.parametrize("verb", ["check", "history"])
def test_what_the_job_prints_as_a_table_is_not_shown_twice(job, capfd, verb):
    job(report_of(verb, table(findings=[], warnings=[LOST])))
    assert cli.main([verb, "--table", "sales.events"]) == 0
    out, err = capfd.readouterr()
    assert out == "a line of the job\n"
    assert f"warning: sales.events: {LOST}" in err


@pytest.mark.parametrize("verb", ["analyze", "check", "history", "compact", "rollback", "cleanup"])
def test_with_json_the_report_and_nothing_else_is_on_standard_output(job, capfd, verb):
    found = report_of(verb, table(units=[flagged(1)], warnings=[LOST]))
    job(found, code=1)
    assert cli.main([verb, "--table", "sales.events", "--json"]) == 1
    out, err = capfd.readouterr()
    assert json.loads(out) == found
    assert "a line of the job" in err


def test_a_report_that_could_not_be_written_is_taken_from_standard_output(job, capfd):
    found = report_of("analyze", table())
    job(found, program=JOB.replace('if "--report" in argv', "if False"))
    assert cli.main(["analyze", "--table", "sales.events", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == found


def test_a_job_without_a_report_prints_nothing_and_has_its_exit_code(job, capfd):
    job({}, code=7, program="import sys\nsys.exit({code})  # {report}\n")
    assert cli.main(["analyze", "--table", "sales.events", "--json"]) == 7
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("code", [1, -9])
def test_a_job_without_a_report_is_said_to_have_none(job, capfd, code):
    program = "import os, signal, sys\nprint('Java says why', file=sys.stderr)\n"
    program += "os.kill(os.getpid(), -{code}) if {code} < 0 else sys.exit({code})  # {report}\n"
    job({}, code=code, program=program)
    assert cli.main(["analyze", "--table", "sales.events"]) == (1 if code > 0 else 137)
    how = "ended with exit code 1" if code > 0 else "died of signal 9"
    assert capfd.readouterr().err.splitlines()[-1] == (
        f"lakekeeper: error: spark-submit {how}, and the job has left no report: the lines above have the reason;"
        " `lakekeeper doctor` looks for it"
    )


@pytest.mark.parametrize("variable", [None, "HADOOP_CONF_DIR", "YARN_CONF_DIR"])
def test_without_the_configuration_of_the_cluster_yarn_is_not_found(
    job, capfd, tmp_path, monkeypatch, variable
):
    for each in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(each, raising=False)
    if variable:
        monkeypatch.setenv(variable, "/etc/hadoop/conf")
    job({}, code=1, program="import sys\nsys.exit({code})  # {report}\n")
    path = config_file(tmp_path, "spark_submit: {enabled: true}")
    assert cli.main(["-c", path, "analyze", "--table", "sales.events"]) == 1
    said = capfd.readouterr().err.splitlines()[-1]
    assert ("export HADOOP_CONF_DIR=" in said) is (variable is None)


def test_a_compaction_says_how_it_is_undone(job, capfd):
    done = [{**flagged(1), "outcome": "compacted"}]
    one, other = (table(name, units=done) for name in ("sales.events", "sales.logs"))
    job(report_of("compact", one, table("sales.quiet"), other))
    assert cli.main(["compact", "--database", "sales"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[-1] == "to undo it: lakekeeper rollback --tables sales.events,sales.logs --run-id r1"


def test_where_nothing_was_compacted_nothing_can_be_undone(job, capfd):
    job(report_of("compact", table(units=[flagged(1)])))
    assert cli.main(["compact", "--table", "sales.events", "--dry-run"]) == 0
    assert "to undo" not in capfd.readouterr().out


def _worse(process: int, report: int) -> int:
    """The exit code of the command, by the table in docs/wire.md."""
    process = process if process >= 0 else 128 - process
    by_gravity = [0, 1, 2, 137, 143, 3]
    return max(process, report, key=by_gravity.index)


@pytest.mark.parametrize(("outcome", "said"), report.EXIT_CODES.items())
@pytest.mark.parametrize("code", [0, 1, 2, 3, 137, -9, -15])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_exit_code_is_the_worse_one_of_process_and_report(job, capfd, outcome, said, code, more):
    job(report_of("compact", table(), outcome=outcome), code=code)
    assert cli.main(["compact", "--table", "sales.events", *more]) == _worse(code, said)
    out, err = capfd.readouterr()
    assert outcome in out
    assert ("and its report says" in err) == (code != said)


@pytest.mark.parametrize("program", [SILENT, FORGED, OTHER_NONCE])
@pytest.mark.parametrize(("code", "expected"), [(0, 1), (1, 1), (2, 2), (3, 3), (-9, 137)])
def test_without_a_report_of_its_own_a_job_has_not_succeeded(job, capfd, program, code, expected):
    """Also not by a line that a text of a table has brought into the log."""
    job(report_of("compact", table()), code=code, program=program)
    assert cli.main(["compact", "--table", "sales.events"]) == expected
    out, err = capfd.readouterr()
    assert "compact: done" not in out
    assert ("ended without a report" in err) == (code == 0)


def test_in_cluster_mode_the_report_is_printed_on_another_node(job, tmp_path):
    job(report_of("compact", table()), program=SILENT)
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("spark_submit: {enabled: true, deploy_mode: cluster}")
    assert cli.main(["-c", str(config), "compact", "--table", "a.b"]) == 0


def test_a_report_that_is_none_is_no_success(job, capfd):
    job({"schema_version": 1, "verb": "analyze"})
    assert cli.main(["compact", "--table", "sales.events"]) == 1
    assert "expected the report of compact" in capfd.readouterr().err


def test_neither_the_word_of_the_report_nor_keytab_and_principal_are_shown(job, tmp_path, capfd):
    job(report_of("compact", table()), program=JOB.replace('"a line of the job"', '"a line:", *sys.argv'))
    config = tmp_path / "lakekeeper.yaml"
    config.write_text(
        "spark_submit: {principal: etl@REALM, keytab: /etc/etl.keytab,"
        " extra_conf: {spark.hadoop.fs.s3a.access.key: AKIA, spark.app.note: kept}}"
    )
    assert cli.main(["-c", str(config), "compact", "--table", "sales.events"]) == 0
    out, err = capfd.readouterr()
    [launched] = [line for line in err.splitlines() if line.startswith("Launching: ")]
    assert launched.endswith("--report-nonce '******'")
    assert "--keytab '******'" in launched
    assert "spark.app.note=kept" in launched
    for secret in ("etl@REALM", "etl.keytab", "AKIA"):
        assert secret not in launched
    assert "--report-nonce ******" in out


def test_json_in_cluster_mode_is_an_error_that_says_so(job, tmp_path, capfd):
    job({})
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("spark_submit: {enabled: true, deploy_mode: cluster}")
    assert cli.main(["-c", str(config), "analyze", "--table", "a.b", "--json"]) == 2
    assert "--json needs client mode" in capfd.readouterr().err


def test_an_interrupt_is_left_to_the_job(job, tmp_path):
    """Both get it, as from a terminal; the job ends by itself, and its report is shown."""
    started = tmp_path / "started"
    waiting = f"""
import pathlib, signal, sys, time
ended = []
signal.signal(signal.SIGINT, lambda *_: ended.append(1))
pathlib.Path({str(started)!r}).touch()
while not ended:
    time.sleep(0.01)
{JOB}"""
    job(report_of("compact", table()), code=1, program=waiting)
    command = [sys.executable, "-m", "lakekeeper_provider.shell.cli", "compact", "--table", "sales.events"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    while not started.exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate()
    assert process.returncode == 1
    assert b"compact: done, 1 table, run r1" in out


@pytest.mark.parametrize("code", [0, 1])
def test_a_reader_that_is_gone_does_not_change_the_exit_code(job, code):
    job(report_of("compact", table()), code=code)
    command = [sys.executable, "-m", "lakekeeper_provider.shell.cli", "compact", "--table", "sales.events"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)


def test_a_name_that_the_terminal_cannot_show_does_not_fail_the_command(job):
    job(report_of("compact", table(table="sales.zürich")))
    command = [sys.executable, "-m", "lakekeeper_provider.shell.cli", "compact", "--table", "sales.events"]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sales.z\\xfcrich" in done.stdout


@pytest.mark.parametrize("colours", [True, False])
def test_colours_only_on_a_terminal_and_never_against_the_users_will(job, colours):
    job(report_of("compact", table()))
    command = [sys.executable, "-m", "lakekeeper_provider.shell.cli", "compact", "--table", "sales.events"]
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal, other_end = os.openpty()
    process = subprocess.Popen(
        command,
        env={**environ, **({} if colours else {"NO_COLOR": "1"})},
        stdout=other_end,
        stderr=subprocess.DEVNULL,
    )
    os.close(other_end)
    shown = b""
    while chunk := _read(terminal):
        shown += chunk
    os.close(terminal)
    assert process.wait() == 0
    assert b"compact: done" in shown
    assert (b"\x1b[32m" in shown) == colours


def _read(terminal: int) -> bytes:
    """Read from a terminal; its other end is closed with an error on Linux."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
