"""Long answers of the JVM arrive without a delay, in each thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.statuses import StatusReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.smoke


def _without_delay(spark: SparkSession) -> bool:
    """Whether the JVM's side of this thread's connection has TCP_NODELAY."""
    client: Any = spark.sparkContext._gateway._gateway_client  # type: ignore[attr-defined]
    port = client.get_thread_connection().socket.getsockname()[1]
    # One call for all: meanwhile connections of threads that have ended leave the list.
    sockets = [connection.getSocket() for connection in client._server_connections.toArray()]
    return [bool(socket.getTcpNoDelay()) for socket in sockets if socket.getPort() == port] == [True]


def test_of_the_main_thread_and_of_a_new_one(spark: SparkSession) -> None:
    found: list[bool] = []

    def look() -> None:
        spark._jvm.java.lang.System.nanoTime()  # type: ignore[union-attr]
        found.append(_without_delay(spark))

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [True, True]


def test_a_thread_that_has_ended_leaves_no_connection(spark: SparkSession) -> None:
    client: Any = spark.sparkContext._gateway._gateway_client  # type: ignore[attr-defined]

    def work() -> None:
        for _ in range(3):
            spark._jvm.java.lang.System.nanoTime()  # type: ignore[union-attr]

    work()
    before = len(client.deque)
    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(client.deque) <= before + 1  # one ended thread's connection is closed by the next


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_each_byte_of_a_file_is_read_as_it_is(spark: SparkSession, tmp_path: Any, size: int) -> None:
    content = (bytes(range(256)) + b"\\n\\\\r\r\n\\")[:size] * 3 + bytes(range(256)) * (size // 256)
    (tmp_path / "record").write_bytes(content)
    assert HadoopFileSystem(spark).read(f"{tmp_path.as_uri()}/record") == content


def test_a_listing_in_several_pages_has_each_file_once(
    spark: SparkSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_jobs.adapters.hadoop.statuses._PAGE", 3)
    for number in range(8):
        (tmp_path / f"f{number}").write_bytes(b"x" * number)
    jvm: Any = spark._jvm
    folder = jvm.org.apache.hadoop.fs.Path(tmp_path.as_uri())
    fs = folder.getFileSystem(spark._jsc.hadoopConfiguration())  # type: ignore[attr-defined]
    found = StatusReader(spark.sparkContext._gateway).listed(fs.listStatus(folder))
    assert sorted((status.name, status.length) for status in found) == [(f"f{n}", n) for n in range(8)]
