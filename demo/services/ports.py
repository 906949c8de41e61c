"""Find free TCP ports on the loopback address, on which all services listen."""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"

#: Below the range from which systems take the ports of outgoing connections: no other program gets one of these by
#: chance between the moment it is chosen and the start of the server.
PORTS = range(15_000, 30_000)
ATTEMPTS = 1_000


def free_port() -> int:
    """Return a port on which no server listens."""
    for port in random.sample(PORTS, ATTEMPTS):
        if is_free(port):
            return port
    raise RuntimeError(f"none of {ATTEMPTS} ports between {PORTS[0]} and {PORTS[-1]} is free on {HOST}")


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port."""
    with socket.socket() as probe:
        # Servers set this too: a port whose last connections are in TIME_WAIT can be used.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
