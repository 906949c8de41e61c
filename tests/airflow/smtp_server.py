"""A mail server on loopback that keeps what it is sent: the few commands of SMTP that a client needs."""

from __future__ import annotations

import socketserver
import threading
from email import message_from_bytes
from email.message import Message
from types import TracebackType


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 loopback")
        while line := self.rfile.readline():
            word = line.decode().strip().upper()
            if word.startswith("DATA"):
                self._say("354 go on")
                self.server.keep(b"".join(iter(self.rfile.readline, b".\r\n")))
                self._say("250 kept")
            elif word.startswith("QUIT"):
                self._say("221 bye")
                return
            else:
                self._say("250 loopback")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class MailServer(socketserver.ThreadingTCPServer):
    """Its messages are complete: subject and bodies can be read."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.messages: list[Message] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def keep(self, data: bytes) -> None:
        self.messages.append(message_from_bytes(data))

    def __enter__(self) -> MailServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()
