"""Count calls: a proxy before the metastore, and the NameNode's own metrics."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from demo.services.ports import HOST

#: Seconds after which the NameNode reads its metrics again (the period of Hadoop's metrics, 10 s).
_CACHED = 11
#: Calls of the DataNode, and of whoever looks at the cluster: they come with time, not with work.
_BY_TIME = ("SendHeartbeat", "BlockReport", "RegisterDatanode", "VersionRequest", "SlowPeers")


class MetastoreProxy:
    """Passes on what clients and a metastore say to each other, and counts the calls.

    A client sends a call when it has the answer to the one before. So a call begins where the client speaks after the
    server has.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._calls = 0
        self._lock = threading.Lock()
        self._server = socketserver.ThreadingTCPServer((HOST, 0), self._handler(), bind_and_activate=True)
        self._server.daemon_threads = True

    @property
    def uri(self) -> str:
        return f"thrift://{HOST}:{self._server.server_address[1]}"

    def calls(self) -> int:
        """Return the number of calls so far."""
        return self._calls

    @contextmanager
    def serving(self) -> Iterator[MetastoreProxy]:
        """Serve until the end of the block."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def _handler(self) -> type[socketserver.BaseRequestHandler]:
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy._pass_on(self.request)

        return Handler

    def _pass_on(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with socket.create_connection((HOST, self._target)) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            turn = _Turn()
            back = threading.Thread(target=_pump, args=(server, client, turn.answered), daemon=True)
            back.start()
            _pump(client, server, lambda: self._count(turn.asked()))
            back.join()

    def _count(self, begins: bool) -> None:
        if begins:
            with self._lock:
                self._calls += 1


class _Turn:
    """Whose turn it is on a connection."""

    def __init__(self) -> None:
        self._is_clients = True

    def asked(self) -> bool:
        """Note that the client speaks; return whether a call begins."""
        begins, self._is_clients = self._is_clients, False
        return begins

    def answered(self) -> None:
        self._is_clients = True


def _pump(source: socket.socket, target: socket.socket, note: Callable[[], None]) -> None:
    """Pass on what one side says until it closes the connection."""
    try:
        while data := source.recv(65536):
            note()
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one of them is gone, and the other will notice


def namenode_calls(address: str) -> int:
    """Return the number of calls that a NameNode has answered, without those of the DataNode.

    It waits first, because the NameNode answers with what it has answered before until that is ten seconds old.
    """
    time.sleep(_CACHED)
    url = f"http://{address}/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*"
    with urllib.request.urlopen(url, timeout=30) as answer:
        (bean,) = json.load(answer)["beans"]
    return sum(
        number for name, number in bean.items() if name.endswith("NumOps") and not name.startswith(_BY_TIME)
    )
