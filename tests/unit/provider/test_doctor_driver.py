"""What `doctor` says of a driver that fails, and of what it reports."""

from __future__ import annotations

import errno
import json

import pytest

from lakekeeper_provider.doctor import driver
from lakekeeper_provider.doctor.checks import Check
from lakekeeper_provider.exceptions import ReportError
from tests.unit.provider.doctor_runs import BAD, GOOD, REPORTS, job, ran

pytestmark = pytest.mark.usefixtures("empty")


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
