"""Ask a Hive Metastore by Thrift, without a JVM: which tables a database has, and to forget one of them."""

from __future__ import annotations

import socket
import struct

from demo.services.ports import HOST

_VERSION, _CALL, _REPLY = 0x80010000, 1, 2
_STRING, _BOOL, _LIST = 11, 2, 15
_STOP = b"\x00"


class MetastoreError(Exception):
    """The metastore refused a call."""


#: How the names of backup tables begin, ours and Lakekeeper's.
BACKUP = "__bkp"


def drop_backups(port: int, database: str) -> None:
    """Forget the backup tables of a database, and leave their data alone."""
    for name in tables(port, database):
        if name.startswith(BACKUP):
            drop(port, database, name)


def tables(port: int, database: str) -> list[str]:
    """Return the names of all tables of a database."""
    reply = _call(port, "get_all_tables", _text(1, database))
    kind, field, element, count = struct.unpack_from(">BhBi", reply)
    if (kind, field, element) != (_LIST, 0, _STRING):
        raise MetastoreError(f"get_all_tables('{database}') failed: {reply[:300]!r}")
    names, at = [], 8
    for _ in range(count):
        (length,) = struct.unpack_from(">i", reply, at)
        names.append(reply[at + 4 : at + 4 + length].decode())
        at += 4 + length
    return names


def drop(port: int, database: str, table: str) -> None:
    """Forget a table, and leave its data alone."""
    no_data = struct.pack(">BhB", _BOOL, 3, 0)
    reply = _call(port, "drop_table", _text(1, database) + _text(2, table) + no_data)
    if reply[:1] != _STOP:
        raise MetastoreError(f"drop_table('{database}.{table}') failed: {reply[:300]!r}")


def _text(field: int, value: str) -> bytes:
    data = value.encode()
    return struct.pack(">Bhi", _STRING, field, len(data)) + data


def _call(port: int, method: str, fields: bytes) -> bytes:
    """Return what follows the head of the reply, in the strict binary protocol, which has no frames."""
    name = method.encode()
    head = struct.pack(">Ii", _VERSION | _CALL, len(name)) + name + struct.pack(">i", 0)
    with socket.create_connection((HOST, port), timeout=300) as connection:
        connection.sendall(head + fields + _STOP)
        # A reply ends without a sign of it. The server closes the connection once this side has.
        connection.shutdown(socket.SHUT_WR)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    (kind,) = struct.unpack_from(">I", reply)
    if kind != _VERSION | _REPLY:
        raise MetastoreError(f"{method}: {reply[:300]!r}")
    return reply[len(head) :]
