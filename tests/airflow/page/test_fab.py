"""The pages in an API server with FAB's auth manager, whose users have rights per DAG."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.services import airflow_components, paths, processes
from demo.services.ports import HOST, free_port
from tests.airflow.conftest import migrate
from tests.airflow.page.fab_users import PASSWORD
from tests.airflow.support import wait_for

pytestmark = [pytest.mark.live, pytest.mark.full]

MANAGER = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"
RUN = "dag_id=nightly&run_id=scheduled__1"
#: Status, and whether the table of the DAG `nightly` and that of `team_b` are shown.
Answer = tuple[int, bool, bool]


class Server:
    """An API server on a database of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._url = f"http://{HOST}:{free_port()}"
        self._environ = {
            **os.environ,
            **airflow_components.server_environ(self._url),
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__AUTH_MANAGER": MANAGER,
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
            "AIRFLOW__API__SECRET_KEY": "only-for-this-test",
            "AIRFLOW__API_AUTH__JWT_SECRET": "only-for-this-test" + 64 * "0",
            "PYTHONPATH": str(paths.ROOT),
        }

    def start(self) -> subprocess.Popen[bytes]:
        """Make the database, and start."""
        migrate(self._home, self._environ)
        fill = [sys.executable, "-m", "tests.airflow.page.fab_users"]
        subprocess.run(fill, env=self._environ, cwd=self._home, check=True, capture_output=True)
        port = int(self._url.rpartition(":")[2])
        command = [sys.executable, "-m", "airflow", *airflow_components.components(port)["api-server"]]
        log = self._home / "api-server.log"
        child = processes.spawn(command, log=log, cwd=self._home, env=self._environ)
        wait_for("the API server", lambda: self._answers(child, log))
        return child

    def _answers(self, child: Any, log: Path) -> bool:
        assert not processes.has_ended(child), processes.tail(log)
        try:
            return self.ask("/api/v2/version")[0] == 200
        except OSError:
            return False

    def token(self, user: str) -> str:
        body = {"username": user, "password": PASSWORD}
        status, text = self.ask("/auth/token", body=body)
        assert status == 201, text
        return str(json.loads(text)["access_token"])

    def ask(self, path: str, token: str | None = None, body: Any = None) -> tuple[int, str]:
        """Return status and text of an answer."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("fab"))
    child = made.start()
    yield made
    processes.stop(child)


@pytest.fixture(scope="module")
def get(server: Server) -> Callable[[str, str], Answer]:
    """Return what a user sees on a page."""

    def of(user: str, path: str) -> Answer:
        status, text = server.ask(path, server.token(user))
        return status, "sales.events" in text, "secret.b" in text

    return of


PAGES = {
    "list": "/lakekeeper/",
    "table": "/lakekeeper/table?server=hive:10000&name=sales.events",
    "run": f"/lakekeeper/run?{RUN}",
    "task": f"/lakekeeper/task?{RUN}&task_id=analyze",
}
ADMIN = {"list": (200, True, True), "table": (200, True, False), "run": (200, True, False)}
READER = {"list": (200, True, False), "table": (200, True, False), "run": (200, True, False)}
OTHERS = {"table": (404, False, False), "run": (403, False, False), "task": (403, False, False)}
SEEN = {
    "admin": {**ADMIN, "task": (200, True, False)},
    "reader": {**READER, "task": (200, True, False)},
    "team_b": {**OTHERS, "list": (200, False, True)},
    "without_tasks": {**OTHERS, "list": (200, False, False)},
    "nobody": {**OTHERS, "list": (200, False, False)},
}


@pytest.mark.parametrize("user", SEEN)
def test_each_user_sees_what_jobs_of_readable_dags_have_found(get: Callable[..., Answer], user: str) -> None:
    assert {page: get(user, path) for page, path in PAGES.items()} == SEEN[user]


@pytest.mark.parametrize("path", PAGES.values())
def test_nobody_sees_anything_without_a_login(server: Server, path: str) -> None:
    assert server.ask(path)[0] == 401


def test_who_may_not_trigger_has_no_button_and_is_refused(server: Server) -> None:
    token = server.token("reader")
    _, page = server.ask(PAGES["table"], token)
    assert "<button data-act" not in page
    assert "You may not trigger the DAG lakekeeper_on_demand" in page
    body = {"logical_date": None, "conf": {"table": "sales.events", "action": "rollback"}}
    assert server.ask("/api/v2/dags/lakekeeper_on_demand/dagRuns", token, body)[0] == 403
    _, page = server.ask(PAGES["table"], server.token("admin"))
    assert "<button data-act" in page
