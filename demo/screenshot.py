"""Look at the pages of the demo's run in a browser without a window, and take the pictures of the documentation.

make demo && make up && make screenshots
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import urllib.parse
from pathlib import Path

from demo import airflow_server, ui
from demo.services import environments, machine, paths
from demo.services.airflow_api import AirflowApi
from demo.workspace import DAG, DEFAULT

BROWSER = "browser"
#: The task whose log is shown: that of the table with the most partitions.
TASK, MAP_INDEX = "compact", 2
#: What its log has from the job, from the operator, and from the warnings and units of the report.
EXPECTED = (
    "9 units compacted",
    "[9/9] date=",
    "date=2026-02-25/ref=C: 100 -> 1 files",
    "compact: done, 1 table",
)
PICTURE = paths.ROOT / "docs" / "images" / "task_log.png"


class NotShown(Exception):
    """A page lacks what it should show; the message has the browser's output."""


def look_at_log(url: str, token: str, run: str, picture: Path | None = None) -> str:
    """Open the log of a task of the demo's run; return the text of the page.

    Args:
        url: the address of Airflow.
        token: that of the user who looks at it.
        run: the id of the DAG run.
        picture: a file for a picture of the page.

    Raises:
        NotShown: the log is not there.
        MachineError: Chromium or its driver is missing.
    """
    if missing := machine.missing_browser():
        packages = " ".join(package for _, package in missing)
        raise machine.MachineError(f"a browser is needed; on Debian and Ubuntu: apt-get install {packages}")
    environments.ensure([BROWSER])
    page = f"{url}/dags/{DAG}/runs/{urllib.parse.quote(run)}/tasks/{TASK}/mapped/{MAP_INDEX}"
    command = [paths.env_python(BROWSER), "-m", "demo.browser", page, *EXPECTED]
    command += ["--picture", picture] if picture else []
    done = subprocess.run(
        list(map(str, command)), cwd=paths.ROOT, input=token, capture_output=True, text=True, timeout=180
    )
    if done.returncode:
        raise NotShown(f"{done.stderr}\n{done.stdout}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Take the pictures of the documentation, of what `make up` runs."
    )
    parser.add_argument("--picture", type=Path, default=PICTURE)
    picture = parser.parse_args().picture
    server = ui.running_server()
    if server is None:
        print("the UI does not run; start it first: make up", file=sys.stderr)
        return 1
    api = AirflowApi(server.url, timeout=60)
    api.log_in(*airflow_server.credentials(DEFAULT))
    run = api.call("GET", f"/dags/{DAG}/dagRuns?order_by=run_after&limit=1")["dag_runs"][0]["dag_run_id"]
    try:
        look_at_log(server.url, api.token, run, picture)
    except (NotShown, machine.MachineError, environments.EnvError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"written: {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
