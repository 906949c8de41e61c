"""The PostgreSQL server below the live tests and the demo: whoever runs it, and whatever happened to the last one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest

from demo.services import paths, processes
from demo.services.postgres import MEMORY_IN_USE, Postgres, binaries
from tests.airflow.support import wait_for
from tests.harness.process_table import processes_naming

pytestmark = pytest.mark.live

HOLD = """
import sys, time
from pathlib import Path
from demo.services.postgres import Postgres, binaries
with Postgres(Path(sys.argv[1]), binaries("airflow-3.3")) as server:
    print(server.sqlalchemy_url, flush=True)
    time.sleep(600)
"""

#: Holds a shared memory block of System V, as a killed server does for as long as it takes to end.
ATTACH = """
import ctypes, sys
shmat = ctypes.CDLL(None, use_errno=True).shmat
shmat.restype = ctypes.c_void_p
assert shmat(int(sys.argv[1]), None, 0) != ctypes.c_void_p(-1).value, ctypes.get_errno()
print("attached", flush=True)
input()
"""


@pytest.fixture
def server(tmp_path) -> Postgres:
    return Postgres(tmp_path / "server", binaries("airflow-3.3"))


def ask(url: str, statement: str) -> list[tuple]:
    from sqlalchemy import create_engine, text

    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            found = connection.execute(text(statement))
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        engine.dispose()


def test_started_again_it_has_the_same_data_and_stopped_it_leaves_no_process(server):
    with server:
        ask(server.sqlalchemy_url, "CREATE TABLE kept AS SELECT 7 AS number")
    assert processes_naming(server.directory) == []
    with server:
        assert ask(server.sqlalchemy_url, "SELECT number FROM kept") == [(7,)]
    assert processes_naming(server.directory) == []


def test_nobody_reaches_it_over_a_network_and_only_its_owner_over_the_socket(server):
    with server:
        assert ask(server.sqlalchemy_url, "SHOW listen_addresses") == [("",)]
        folder = Path(server.sqlalchemy_url.partition("?host=")[2])
        assert folder.stat().st_mode & 0o777 == 0o700
        [(data,)] = ask(server.sqlalchemy_url, "SHOW data_directory")
        assert Path(data).stat().st_uid == folder.stat().st_uid
        assert (folder.stat().st_uid == os.geteuid()) == (os.geteuid() != 0)
    assert not folder.exists()


def test_a_client_that_stays_connected_does_not_keep_it_from_stopping(server):
    from sqlalchemy import create_engine, text

    with server:
        engine = create_engine(server.sqlalchemy_url)
        client = engine.connect()
        client.execute(text("SELECT 1"))
    assert processes_naming(server.directory) == []
    client.invalidate()
    engine.dispose()


def test_it_dies_with_its_parent_and_the_next_one_takes_over(server, tmp_path):
    log = tmp_path / "hold.log"
    parent = processes.spawn([sys.executable, "-c", HOLD, server.directory], log=log, cwd=paths.ROOT)
    try:
        wait_for("the server", lambda: log.read_text().endswith("\n"))
        ask(log.read_text().strip(), "CREATE TABLE kept AS SELECT 8 AS number")
    finally:
        processes.kill(parent)
    wait_for("the end of the server", lambda: not processes_naming(server.directory))
    with server:
        assert ask(server.sqlalchemy_url, "SELECT number FROM kept") == [(8,)]


def test_the_memory_of_a_killed_server_that_is_still_ending_is_waited_for(server):
    server.start()
    lock = (server.directory / "data" / "postmaster.pid").read_text().splitlines()
    block = lock[6].split()[1]
    ending = subprocess.Popen([sys.executable, "-c", ATTACH, block], stdin=PIPE, stdout=PIPE, text=True)
    try:
        assert ending.stdout.readline() == "attached\n"
        os.kill(int(lock[0]), signal.SIGKILL)
        server.stop()
        with ThreadPoolExecutor() as pool:
            refused = pool.submit(wait_for, "a refusal", lambda: MEMORY_IN_USE in server.log.read_bytes())
            refused.add_done_callback(lambda _: ending.communicate("\n"))
            with server:
                assert ask(server.sqlalchemy_url, "SELECT 1") == [(1,)]
            assert refused.exception() is None
    finally:
        ending.kill()
        ending.communicate()


def test_a_lock_that_names_a_process_of_somebody_else_is_nobodys(server):
    with server:
        pass
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=PIPE)
    try:
        (server.directory / "data" / "postmaster.pid").write_text(f"{bystander.pid}\n")
        with server:
            assert ask(server.sqlalchemy_url, "SELECT 1") == [(1,)]
    finally:
        bystander.communicate(b"\n")
    assert bystander.returncode == 0


def test_a_database_whose_making_was_interrupted_is_made_anew(server):
    (server.directory / "data" / "half").mkdir(parents=True)
    with server:
        assert ask(server.sqlalchemy_url, "SELECT 1") == [(1,)]


def test_a_server_that_cannot_start_says_why(server):
    with server:
        pass
    (server.directory / "data" / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(RuntimeError, match=r"(?s)did not start.*not compatible"), server:
        pass
    assert processes_naming(server.directory) == []
