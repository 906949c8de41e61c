"""The metastore is ours alone, keeps its tables, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from demo.services import metastore as module
from demo.services import paths, ports
from demo.services.metastore import Metastore
from tests.harness import sockets
from tests.harness.waiting import wait_for

PARENT = """
import sys, time
from pathlib import Path
from demo.services.metastore import Metastore
print(Metastore(Path(sys.argv[1])).start().port, flush=True)
time.sleep(600)
"""


def test_it_answers_while_it_runs_and_not_after(tmp_path):
    with Metastore(tmp_path) as running:
        assert module.answers(running.port)
        assert not ports.is_free(running.port)
    assert not module.answers(running.port)


def test_it_comes_back_after_a_kill_on_the_same_port(tmp_path):
    running = Metastore(tmp_path).start()
    port = running.port
    running.kill()
    assert not module.answers(port)
    with running.start():
        assert running.port == port
        assert module.answers(port)


@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="reads the kernel's list of sockets")
def test_it_listens_on_this_machine_only(metastore):
    # 0A is LISTEN; addresses are hexadecimal, and so is the port.
    listening = [
        row[1] for row in sockets.rows() if row[3] == "0A" and row[1].endswith(f":{metastore.port:04X}")
    ]

    assert listening
    assert all("0100007F" in address for address in listening)


def test_a_failed_start_shows_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SERVER", tmp_path / "Missing.java")

    with pytest.raises(RuntimeError, match=r"Missing\.java"):
        Metastore(tmp_path).start()


def test_it_dies_with_a_parent_that_was_killed(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], cwd=paths.ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    port = int(parent.stdout.readline())

    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    wait_for(f"the end of the metastore on port {port}", lambda: not module.answers(port))
