"""A StatsD server on the loopback interface, which keeps the names and values that it is sent."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from threading import Thread

from demo.services.ports import HOST


class StatsdServer:
    """It listens from its creation to `close`."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((HOST, 0))
        self.port = int(self._socket.getsockname()[1])
        #: The values of each metric in the order of their arrival, as `value|type`.
        self.received: dict[str, list[str]] = {}
        self._thread = Thread(target=self._receive, daemon=True)
        self._thread.start()

    def environ(self) -> Mapping[str, str]:
        """Return the variables by which Airflow sends its metrics to this server."""
        return {
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_HOST": HOST,
            "AIRFLOW__METRICS__STATSD_PORT": str(self.port),
            "AIRFLOW__METRICS__STATSD_PREFIX": "airflow",
        }

    def close(self) -> None:
        # An empty message ends the thread: closing a socket does not wake a thread that reads from it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", (HOST, self.port))
        self._thread.join()
        self._socket.close()

    def _receive(self) -> None:
        while message := self._socket.recv(65536):
            for line in message.decode().splitlines():
                name, _, value = line.partition(":")
                self.received.setdefault(name, []).append(value)
