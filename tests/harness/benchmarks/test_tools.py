"""What the cases stand on: measured processes, trees of files, calls of a metastore."""

from __future__ import annotations

import os
import socket
import sys
import threading

import pytest

from benchmarks import metastore_client, trees
from benchmarks.call_counter import MetastoreProxy
from benchmarks.measuring import RunFailed, measure
from demo.services.ports import HOST
from demo.services.processes import own_environ

_BURN = "import time\nwhile time.process_time() < 0.5: pass"


def _python(program, tmp_path):
    return measure([sys.executable, "-c", program], log=tmp_path / "log", env=own_environ())


def test_processor_seconds_of_children_count(tmp_path):
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_BURN!r}], check=True)"

    assert _python(parent, tmp_path).cpu >= 0.5


def test_processor_seconds_of_those_whose_end_nobody_heeds_count(tmp_path):
    """As Spark's Python workers: PySpark's daemon ignores SIGCHLD."""
    waiting = "import signal, subprocess, sys, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    parent = (
        f"{waiting}subprocess.Popen([sys.executable, '-c', {_BURN!r} + '\\ntime.sleep(60)']); time.sleep(3)"
    )

    assert _python(parent, tmp_path).cpu >= 0.5


def test_the_peak_memory_of_python_is_seen(tmp_path):
    taken = _python("import time; data = bytearray(b'x' * 150_000_000); del data; time.sleep(1)", tmp_path)

    assert taken.python_mb >= 140
    assert taken.jvm_mb == 0


def test_a_program_that_fails_is_named_with_the_end_of_its_log(tmp_path):
    with pytest.raises(RunFailed, match=r"ended with 3; see .*log:\nno such table"):
        _python("print('no such table'); raise SystemExit(3)", tmp_path)


@pytest.fixture
def seed(tmp_path):
    root = tmp_path / "seed"
    (root / "day=1").mkdir(parents=True)
    for name in ("a.parquet", "b.parquet", ".a.parquet.crc", "_SUCCESS"):
        (root / "day=1" / name).write_bytes(b"12345")
    os.utime(root / "day=1", (1000, 1000))
    return root


def test_a_tree_is_restored_with_the_same_files_and_times(seed, tmp_path):
    target = tmp_path / "table"
    (target / "day=1").mkdir(parents=True)
    (target / "day=1" / "compacted.parquet").touch()

    trees.restore(seed, target)

    assert sorted(path.name for path in (target / "day=1").iterdir()) == [
        ".a.parquet.crc",
        "_SUCCESS",
        "a.parquet",
        "b.parquet",
    ]
    assert (target / "day=1" / "a.parquet").samefile(seed / "day=1" / "a.parquet")
    assert (target / "day=1").stat().st_mtime == 1000


def test_hidden_files_do_not_count(seed):
    assert trees.figures(seed) == {"day=1": (2, 10)}
    assert trees.count_in(str(seed / "day=1")) == 2


def test_a_metastore_lists_its_tables_and_refuses_to_drop_what_it_does_not_have(metastore):
    assert metastore_client.tables(metastore.port, "default") == []
    metastore_client.drop_backups(metastore.port, "default")

    with pytest.raises(metastore_client.MetastoreError, match=r"drop_table\('default.absent'\) failed"):
        metastore_client.drop(metastore.port, "default", "absent")


def test_calls_through_the_proxy_are_answered_and_counted():
    with (
        socket.create_server((HOST, 0)) as server,
        MetastoreProxy(server.getsockname()[1]).serving() as proxy,
    ):
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        with socket.create_connection((HOST, int(proxy.uri.rpartition(":")[2]))) as client:
            for _ in range(3):
                client.sendall(b"a call")
                assert client.recv(100) == b"a call"

        assert proxy.calls() == 3


def _echo(server):
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(100):
            connection.sendall(data)
