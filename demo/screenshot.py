"""Look at the pages of the demo's Airflow in a browser without a window, and take the pictures of the documentation.

make demo && make up && make screenshots

Beside the pictures, docs/images/screenshots.json has the hash of the sources that each of them shows, by which a test
sees that it is current.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass, replace
from pathlib import Path

from demo import airflow_server, ui
from demo.services import environments, machine, paths
from demo.services.airflow_api import AirflowApi
from demo.workspace import DAG, DEFAULT

BROWSER = "browser"
FOLDER = paths.ROOT / "docs/images"
STAMPS = FOLDER / "screenshots.json"


@dataclass(frozen=True)
class Screenshot:
    """A picture of a page.

    Attributes:
        name: its file in docs/images.
        page: the path of the page; `{run}` is the id of the demo's newest DAG run.
        texts: what it must show.
        sources: the files that decide what it shows, relative to the checkout.
        clicks: the buttons to click before, by their texts.
        theme: that of Airflow.
    """

    name: str
    page: str
    texts: tuple[str, ...]
    sources: tuple[str, ...]
    clicks: tuple[str, ...] = ()
    theme: str = "light"

    def in_the_dark(self) -> Screenshot:
        """Return the same in Airflow's dark theme."""
        return replace(self, name=self.name.replace(".png", "_dark.png"), theme="dark")

    def stamp(self) -> str:
        """Return the hash of the sources."""
        content = b"\0".join((paths.ROOT / source).read_bytes() for source in self.sources)
        return hashlib.sha256(content).hexdigest()[:16]


#: The log of the table with the most partitions: what comes from the job, from the operator, and from the report.
LOG = Screenshot(
    "task_log.png",
    f"/dags/{DAG}/runs/{{run}}/tasks/compact/mapped/2",
    ("9 units compacted", "[9/9] date=", "date=2026-02-25/ref=C: 100 -> 1 files", "compact: done, 1 table"),
    (
        "example_dags/lakekeeper_demo.py",
        "lakekeeper_provider/report/text.py",
        "lakekeeper_provider/report/units.py",
        "lakekeeper_provider/submission/driver_log.py",
        "spark_jobs/protocol/measuring/progress.py",
    ),
)
CLEAR = Screenshot(
    "clear_rollback.png",
    f"/dags/{DAG}/runs/{{run}}/tasks/rollback",
    ("Clear Task Instance", "rollback"),
    ("example_dags/lakekeeper_demo.py",),
    ("Press shift+c to clear",),
)
FORM = Screenshot(
    "on_demand_form.png",
    "/dags/lakekeeper_on_demand",
    ("Table", "Action", "Dry run"),
    ("example_dags/lakekeeper_on_demand.py",),
    ("Trigger",),
)
#: What the pages look like, beside the code that says what is on them.
_PAGES = (
    "lakekeeper_provider/page/figures.py",
    "lakekeeper_provider/page/listing.py",
    "lakekeeper_provider/page/night.py",
    "lakekeeper_provider/page/records.py",
    "lakekeeper_provider/page/shown.py",
    "lakekeeper_provider/page/tables.py",
    "lakekeeper_provider/page/tracks.py",
    "lakekeeper_provider/page/trends.py",
    "lakekeeper_provider/report/html/rendering.py",
    "lakekeeper_provider/report/html/static/lakekeeper.css",
    "lakekeeper_provider/report/html/static/page.js",
    "lakekeeper_provider/report/html/static/theme.js",
    "lakekeeper_provider/report/html/templates/layout.html",
)
_TEMPLATES = "lakekeeper_provider/page/templates"
TABLES = Screenshot(
    "page_tables.png",
    "/lakekeeper/",
    ("Small files now", "Originals held", "demo.lakekeeper_events_2p"),
    (*_PAGES, f"{_TEMPLATES}/base.html", f"{_TEMPLATES}/macros.html", f"{_TEMPLATES}/tables.html"),
)
TABLE = Screenshot(
    "page_table.png",
    "/lakekeeper/table?server=default&name=demo.lakekeeper_events",
    ("Files and bytes over time", "Roll back the last compaction"),
    (*_PAGES, f"{_TEMPLATES}/base.html", f"{_TEMPLATES}/macros.html", f"{_TEMPLATES}/table.html"),
)
NIGHT = Screenshot(
    "page_night.png",
    f"/lakekeeper/run?dag_id={DAG}&run_id={{run}}",
    ("Tables compacted", "To undo all of it"),
    (*_PAGES, f"{_TEMPLATES}/base.html", f"{_TEMPLATES}/macros.html", f"{_TEMPLATES}/run.html"),
)
SCREENSHOTS = (
    LOG,
    CLEAR,
    FORM,
    *(each for page in (TABLES, TABLE, NIGHT) for each in (page, page.in_the_dark())),
)


class NotShown(Exception):
    """A page lacks what it should show; the message has the browser's output."""


def look_at(shot: Screenshot, url: str, token: str, run: str, picture: Path | None = None) -> str:
    """Open the page of a picture; return its text.

    Args:
        url: the address of Airflow.
        token: that of the user who looks at it.
        run: the id of the DAG run.
        picture: the file to save it to.

    Raises:
        NotShown: a text is not there.
        MachineError: Chromium or its driver is missing.
    """
    if missing := machine.missing_browser():
        packages = " ".join(package for _, package in missing)
        raise machine.MachineError(f"a browser is needed; on Debian and Ubuntu: apt-get install {packages}")
    environments.ensure([BROWSER])
    page = f"{url}{shot.page.format(run=urllib.parse.quote(run))}"
    command = [paths.env_python(BROWSER), "-m", "demo.browser", page, *shot.texts]
    command += [word for button in shot.clicks for word in ("--click", button)]
    command += ["--theme", shot.theme, *(("--picture", picture) if picture else ())]
    done = subprocess.run(
        list(map(str, command)), cwd=paths.ROOT, input=token, capture_output=True, text=True, timeout=180
    )
    if done.returncode:
        raise NotShown(f"{done.stderr}\n{done.stdout}")
    return done.stdout


def main() -> int:
    server = ui.running_server()
    if server is None:
        print("the UI does not run; start it first: make up", file=sys.stderr)
        return 1
    api = AirflowApi(server.url, timeout=60)
    api.log_in(*airflow_server.credentials(DEFAULT))
    run = api.call("GET", f"/dags/{DAG}/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["dag_run_id"]
    try:
        for shot in SCREENSHOTS:
            look_at(shot, server.url, api.token, run, FOLDER / shot.name)
            print(f"written: {(FOLDER / shot.name).relative_to(paths.ROOT)}")
    except (NotShown, machine.MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    stamps = {shot.name: shot.stamp() for shot in SCREENSHOTS}
    STAMPS.write_text(json.dumps(stamps, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
