from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.harness.sockets import hung_up
from tests.harness.waiting import wait_for


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads the kernel's list of sockets")
def test_a_client_that_has_not_noticed_that_its_server_is_gone_is_seen_until_it_lets_go():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        answered, _ = server.accept()
        assert not hung_up(port)
        answered.close()
    wait_for("the end of the connection", lambda: hung_up(port))
    assert not hung_up(port + 1)
    client.close()
    wait_for("the client", lambda: not hung_up(port))
