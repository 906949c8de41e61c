"""Send requests to the REST API of an Airflow server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any


class AirflowApi:
    """The API of one server; `token` is sent with each request once it is set."""

    def __init__(self, url: str, *, timeout: float) -> None:
        self._url, self._timeout = url, timeout
        self.token = ""

    def log_in(self, user: str, password: str) -> None:
        """Get the token of a user."""
        login = {"username": user, "password": password}
        self.token = self.request("POST", "/auth/token", login)["access_token"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Request a path below /api/v2, and return the decoded answer."""
        return self.request(method, f"/api/v2{path}", body)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Request any path; raise URLError, with the server's message, where the server refuses."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}{path}", data, self._headers(), method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise urllib.error.URLError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from None

    def _headers(self) -> dict[str, str]:
        authorization = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {"Content-Type": "application/json", **authorization}
