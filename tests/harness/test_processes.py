"""Stopping a process takes along what it started, and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from demo.services import processes
from tests.harness.waiting import wait_for

# A child that leaves its process group, as Airflow's task runners do, and ignores a polite request.
STUBBORN = """
import os, signal, subprocess, sys, time
child = "import os, signal, time; os.setpgid(0, 0); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
print(subprocess.Popen([sys.executable, "-c", child]).pid, flush=True)
time.sleep(600)
"""


def test_stopping_reaches_a_grandchild_that_left_the_group(tmp_path):
    log = tmp_path / "log"
    process = processes.spawn([sys.executable, "-c", STUBBORN], log=log, cwd=tmp_path)
    wait_for("the grandchild's process id in the log", lambda: log.read_text().endswith("\n"))
    grandchild = int(log.read_text())

    processes.stop(process)

    wait_for(
        f"the end of the grandchild {grandchild}",
        lambda: processes.start_time(grandchild) is None,
        patience=10,
    )


def test_an_ended_process_is_noticed_and_keeps_its_code(tmp_path):
    process = processes.spawn(
        [sys.executable, "-c", "raise SystemExit(3)"], log=tmp_path / "log", cwd=tmp_path
    )
    wait_for("the end of a process that exits by itself", lambda: processes.has_ended(process))

    assert processes.stop(process) == 3


def test_a_bystander_lives_on(tmp_path):
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    processes.stop(processes.spawn([sys.executable, "-c", "input()"], log=tmp_path / "log", cwd=tmp_path))

    assert bystander.poll() is None
    bystander.communicate(b"\n")


def test_a_child_outlives_the_thread_that_started_it(tmp_path):
    """As a server that a test starts again in the middle of a job, which works in a pool."""
    script = "import time; print('up', flush=True); time.sleep(600)"
    log = tmp_path / "log"
    with ThreadPoolExecutor(1) as pool:
        process = pool.submit(processes.spawn, [sys.executable, "-c", script], log=log, cwd=tmp_path).result()
    wait_for("the child", lambda: log.read_text() == "up\n")

    assert not processes.has_ended(process)
    assert processes.stop(process) == -signal.SIGTERM


def test_other_installations_are_left_out(monkeypatch):
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
    monkeypatch.setenv("AIRFLOW_HOME", "/srv/airflow")
    monkeypatch.setenv("JAVA_HOME", "/opt/java")

    kept = processes.own_environ()

    assert "HADOOP_CONF_DIR" not in kept
    assert "AIRFLOW_HOME" not in kept
    assert kept["JAVA_HOME"] == "/opt/java"


def test_a_wait_is_bounded_and_says_for_what():
    with pytest.raises(TimeoutError, match=r"waited 0 s for a sign of life"):
        wait_for("a sign of life", lambda: False, patience=0)
