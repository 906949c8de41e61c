"""A program of `doctor` ends with all that it started, whatever it does and whoever sends a signal."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakekeeper_provider.doctor import process
from tests.harness.process_table import processes_naming
from tests.harness.waiting import wait_for
from tests.unit.provider.doctor_runs import GOOD, command, job, ran

pytestmark = pytest.mark.usefixtures("empty")
#: It outlives the test, unless it is ended.
LONG = "import time\ntime.sleep(600)"


@pytest.fixture
def detached(tmp_path: Path) -> Iterator[str]:
    """Lines that start a process in another session, which holds the pipe. It is not ours to end, but the test's."""
    known = tmp_path / "pid"
    words = [sys.executable, "-c", LONG]
    yield (
        f"import pathlib, subprocess\nchild = subprocess.Popen({words!r}, start_new_session=True)\n"
        f"pathlib.Path({str(known)!r}).write_text(str(child.pid))\n"
    )
    os.kill(int(known.read_text()), signal.SIGKILL)


def test_a_process_that_holds_the_pipe_does_not_hold_the_command(install, capfd, detached):
    """As an `ssh` that goes into the background. Before: the command waited for it."""
    install("spark-submit", detached + job(GOOD))
    code, found, _ = ran(capfd)
    assert (code, found["driver hdfs"]) == (0, GOOD)


def test_the_deadline_holds_although_somebody_holds_the_pipe(install, capfd, detached):
    install("spark-submit", detached + LONG)
    assert "it was ended after 2 s" in ran(capfd, "--timeout", "2")[1]["driver driver"]["found"]


def test_a_driver_that_has_closed_its_output_is_waited_for(install, capfd, tmp_path):
    closed = "import os, time\nos.close(1); os.close(2)\ntime.sleep(1)\n"
    install("spark-submit", job(GOOD).replace("sys.exit(0)", f"{closed}os._exit(3)"))
    assert "it ended with exit code 3" in ran(capfd)[1]["driver driver"]["found"]


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_hurries_and_leaves_nothing(install, empty, tmp_path, second):
    """As a person who presses Ctrl-C twice. Before: the driver went on."""
    started, child = tmp_path / "started", tmp_path / "child"
    ignoring = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    words = [sys.executable, "-c", f"{ignoring}; time.sleep(600)", str(child)]
    install(
        "spark-submit",
        f"import pathlib, subprocess\n{ignoring}\nsubprocess.Popen({words!r})\n"
        f"pathlib.Path({str(started)!r}).touch()\ntime.sleep(600)",
    )
    ended = command("doctor")
    wait_for("the driver has started", started.exists)
    ended.send_signal(signal.SIGINT)
    wait_for("the driver is being ended", lambda: ended.poll() is None)
    ended.send_signal(second)
    assert ended.wait(timeout=60) >= 128
    assert processes_naming(child) == processes_naming(empty / "spark-submit") == []


def test_a_signal_waits_until_a_program_is_known():
    """Raised between the start of a program and the next line, it would leave the program running."""
    reached: list[str] = []

    def start() -> None:
        with process._signals_held():
            os.kill(os.getpid(), signal.SIGTERM)
            reached.append("the next line")
        reached.append("the end")

    with process.signals_raised(), pytest.raises(KeyboardInterrupt) as interrupt:
        start()
    assert reached == ["the next line"]
    assert interrupt.value.args == (signal.SIGTERM,)


def test_handlers_are_those_of_before():
    before = signal.getsignal(signal.SIGTERM)
    with process.signals_raised():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_who_is_started_by_nohup_outlives_the_terminal():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with process.signals_raised():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_driver_behind_a_script_is_given_its_time(install, capfd, tmp_path):
    """A shell without `exec` dies at once. Before: the driver was killed with it, and its application went on."""
    withdrawn, inner = tmp_path / "withdrawn", tmp_path / "inner"
    inner.write_text(
        "import pathlib, signal, sys, time\n"
        f"def end(*_):\n    time.sleep(1)\n    pathlib.Path({str(withdrawn)!r}).touch()\n    sys.exit()\n"
        f"signal.signal(signal.SIGTERM, end)\n{LONG}"
    )
    install("spark-submit", f"{sys.executable} {inner}\necho ended\n", interpreter="/bin/sh")
    assert ran(capfd, "--timeout", "3")[1]["driver driver"]["outcome"] == "bad"
    assert withdrawn.exists()


def test_what_a_driver_has_left_is_ended(install, capfd, tmp_path):
    child = tmp_path / "child"
    words = [sys.executable, "-c", LONG, str(child)]
    start = f"import subprocess\nsubprocess.Popen({words!r}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
    install("spark-submit", start + job(GOOD))
    assert ran(capfd)[0] == 0
    wait_for("it has ended", lambda: not processes_naming(child))


def test_a_driver_does_not_read_what_is_meant_for_another(install, tmp_path):
    """As in `while read table; do lakekeeper doctor -t $table; done`."""
    install("spark-submit", "import sys\nprint('Error: READ', repr(sys.stdin.read()))\nsys.exit(1)")
    shown, _ = command("doctor").communicate("sales.b\n", timeout=60)
    assert "Error: READ ''" in shown


def test_of_a_line_without_end_only_the_beginning_is_kept(tmp_path):
    """Before: all of it was kept in memory, on the terminal and in the report."""
    words = [sys.executable, "-c", "print('x' * 5_000_000)"]
    with process.started(words, 60) as program:
        (line,) = program.lines()
    assert 1_000_000 <= len(line) < 2_000_000


@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing_in_the_exit_code(install, tmp_path, redirected):
    """As from a service that closes what it inherits. Before: a traceback, or an end without a word."""
    install("spark-submit", job(GOOD))
    path, errors = tmp_path / "doctor.json", tmp_path / "errors"
    line = f"{sys.executable} -m lakekeeper_provider.shell.cli doctor --report {path} 2>{errors} {redirected}"
    environ = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    shell = shutil.which("sh", path=os.defpath)
    assert os.spawnve(os.P_WAIT, shell or "/bin/sh", ["sh", "-c", line], environ) == 0
    assert '"outcome": "done"' in path.read_text()
    assert errors.read_text().count("Traceback") == 0


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
    monkeypatch.setattr(process, "_GRACE", 1)
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
    ended = command("doctor")
    wait_for("the driver has started", started.exists)
    ended.send_signal(sign)
    _, err = ended.communicate(timeout=60)
    assert ended.returncode == 128 + sign
    assert err.splitlines()[-1] == "lakekeeper: interrupted"
    assert processes_naming(empty / "spark-submit") == []
