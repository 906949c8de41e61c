"""Switches off Nagle's algorithm for the answers of the JVM.

py4j's server writes an answer of more than 8 KB in two pieces. The second one waits until the first is acknowledged,
which Python's side delays by 40 ms (https://github.com/py4j/py4j/issues/516). Every thread of Python has a connection
of its own, so each new connection is set.
"""

from __future__ import annotations

import logging
from typing import Any

from py4j.clientserver import JavaClient

log = logging.getLogger("lakekeeper")

#: How often the list of connections is read for a new one: it changes while other threads end.
_LOOKS = 3


def send_answers_at_once(gateway: Any) -> None:
    """Set TCP_NODELAY on the JVM's side of all connections of a driver, also of later ones.

    Only the speed depends on it: where py4j's server has no such connections, nothing is changed.
    """
    client = gateway._gateway_client
    if type(client) is not JavaClient:
        return
    try:
        client._server_connections = _server_connections(gateway)
        for connection in list(client._server_connections):
            connection.getSocket().setTcpNoDelay(True)
    except Exception as error:
        log.debug("answers of the JVM are sent with a delay: %s", error)
        return
    client.__class__ = _Client


class _Client(JavaClient):  # type: ignore[misc]
    """A client whose new connections are answered without a delay."""

    def _create_new_connection(self) -> Any:
        connection = super()._create_new_connection()
        try:
            _set(self._server_connections, connection.socket.getsockname()[1])
        except Exception as error:
            log.debug("answers of the JVM are sent with a delay: %s", error)
        # The calls above have given the connection back. Its caller, who has not used it yet, does so again.
        while connection in self.deque:
            self.deque.remove(connection)
        return connection


def _server_connections(gateway: Any) -> Any:
    """Return the Java list of the connections of py4j's server. Its field is private."""
    server = gateway.java_gateway_server
    kind = server.getClass()
    while kind is not None:
        names = [field.getName() for field in kind.getDeclaredFields()]
        if "connections" in names:
            field = kind.getDeclaredField("connections")
            field.setAccessible(True)
            return field.get(server)
        kind = kind.getSuperclass()
    raise AttributeError(f"{server.getClass().getName()} has no field 'connections'")


def _set(connections: Any, port: int) -> None:
    """Set the connection from this port. It is one of the newest, unless others end while it is looked for."""
    for number in [*range(connections.size() - 1, -1, -1)] * _LOOKS:
        socket = connections.get(number).getSocket()
        if socket.getPort() == port:
            socket.setTcpNoDelay(True)
            return
