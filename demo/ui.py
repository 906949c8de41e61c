"""Open the Airflow UI on the demo's tables, and close it.

python3.11 -m demo.ui up
python3.11 -m demo.ui down
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from demo import airflow_server, steps
from demo.services import environments, machine, paths
from demo.services.ports import free_port, is_free
from demo.services.processes import start_time, tail
from demo.workspace import AIRFLOW, DEMO, SPARK, Place

STATE = paths.SCRATCH / "ui.json"
PORT = 8080
UP_LIMIT = 240
DOWN_LIMIT = 60


class Running(Exception):
    """The UI is open where it must not be."""


@dataclass(frozen=True)
class State:
    """The supervising process. Its start time tells it from a later one with the same id."""

    pid: int
    started: int | None
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def alive(self) -> bool:
        return _exists(self.pid) and start_time(self.pid) == self.started


def running() -> State | None:
    if not STATE.exists():
        return None
    state = State(**json.loads(STATE.read_text()))
    return state if state.alive else None


def require_stopped(place: Place) -> None:
    """The demo makes its tables anew: not below a UI that shows them."""
    state = running()
    if state and place == DEMO:
        raise Running(f"the Airflow UI is open on these tables at {state.url}; first: make down")


def up() -> int:
    if state := running():
        print(f"already up\n{login(state)}")
        return 0
    if not DEMO.done.exists():
        print("There are no tables to show yet. First: make demo", file=sys.stderr)
        return 1
    environments.ensure([AIRFLOW, SPARK])
    state = _start(PORT if is_free(PORT) else free_port())
    steps.announce(f"starting Airflow (log: {steps.shown(DEMO.log('ui'))})")
    if not _answers(state):
        _stop(state)
        print(f"error: Airflow did not start:\n{tail(DEMO.log('ui'))}", file=sys.stderr)
        return 1
    print(login(state))
    return 0


def _start(port: int) -> State:
    with DEMO.log("ui").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.airflow_server", str(port)],
            cwd=paths.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    state = State(process.pid, start_time(process.pid), port)
    STATE.write_text(json.dumps(asdict(state)))
    return state


def _answers(state: State) -> bool:
    deadline = time.monotonic() + UP_LIMIT
    while state.alive and time.monotonic() < deadline:
        if airflow_server.is_healthy(state.url):
            return True
        time.sleep(0.5)
    return False


def login(state: State) -> str:
    user, password = airflow_server.credentials(DEMO)
    return f"\n  {state.url}\n  user {user}, password {password}\n\nmake down stops it."


def down() -> int:
    state = running()
    if state is None:
        print("nothing to stop: the UI is not open")
    else:
        _stop(state)
        print(f"stopped the Airflow UI at {state.url}, its database and its metastore (process {state.pid})")
    STATE.unlink(missing_ok=True)
    return 0


def _stop(state: State) -> None:
    """It ends its children itself; if it cannot, they die with it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if state.alive:
            os.kill(state.pid, sign)
        deadline = time.monotonic() + DOWN_LIMIT
        while state.alive and time.monotonic() < deadline:
            time.sleep(0.1)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Open or close the Airflow UI on the demo's tables.")
    parser.add_argument("act", choices=("up", "down"))
    act = parser.parse_args().act
    try:
        return up() if act == "up" else down()
    except (environments.EnvError, machine.MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
