"""The client of Airflow's REST API, with a server that answers with what it received."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from demo.services.airflow_api import AirflowApi
from demo.services.ports import HOST


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        answer = {"path": self.path, "body": json.loads(sent), "authorization": self.headers["Authorization"]}
        self.send_response(403 if self.path.endswith("/forbidden") else 200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[AirflowApi]:
    with HTTPServer((HOST, 0), _Echo) as server:
        Thread(target=server.serve_forever).start()
        yield AirflowApi(f"http://{HOST}:{server.server_port}", timeout=10)
        server.shutdown()


def test_the_token_is_sent_once_it_is_known(api):
    assert api.request("POST", "/auth/token", {"a": 1}) == {
        "path": "/auth/token",
        "body": {"a": 1},
        "authorization": None,
    }
    api.token = "t"
    assert api.call("POST", "/dags", {}) == {"path": "/api/v2/dags", "body": {}, "authorization": "Bearer t"}


def test_a_refusal_names_the_request_and_shows_the_answer(api):
    with pytest.raises(urllib.error.URLError, match=r"POST /api/v2/forbidden: 403 .*authorization"):
        api.call("POST", "/forbidden", {})
