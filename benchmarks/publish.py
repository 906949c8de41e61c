"""Write the page and its chart into docs/, from the results that are there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import page
from benchmarks.arithmetic import spread
from benchmarks.cases import CASES
from benchmarks.cases.case import ANALYSED, ARROW, ARROW_ANALYSED, BARE, LAKEKEEPER, OURS
from benchmarks.results import Results, Store
from benchmarks.workspace import CHART
from demo.services import environments, paths

DOCS = paths.ROOT / "docs"
#: The steps of the chart, from its top.
DRAWN = (OURS, ANALYSED, ARROW, ARROW_ANALYSED, LAKEKEEPER, BARE)


def publish(store: Store, docs: Path = DOCS) -> Path:
    """Write docs/benchmarks.md and its chart; return the path of the page.

    Raises:
        RuntimeError: there are no results, or the chart could not be drawn.
    """
    found = {name: results for name in CASES if (results := store.load(name)) and results.results}
    if not found:
        raise RuntimeError(f"there are no results in {store.folder}")
    draw(panels(found), store.folder / "chart.json", docs / page.CHART)
    target = docs / "benchmarks.md"
    target.write_text(page.render(found, CASES.values()))
    return target


def panels(found: Mapping[str, Results]) -> list[dict[str, Any]]:
    """Return what the chart shows: the cases in which programs are compared."""
    drawn = []
    for name, results in found.items():
        bars = [_bar(step, results) for step in DRAWN if results.of(step)]
        if len(bars) > 1:
            drawn.append({"title": CASES[name].title, "bars": bars})
    return drawn


def _bar(step: str, results: Results) -> list[Any]:
    seconds = spread(list(results.values(step).values()))
    return [page.NAMES[step], seconds.median, seconds.least, seconds.greatest]


def draw(shown: list[dict[str, Any]], data: Path, chart: Path) -> None:
    """Draw the chart in the environment that has matplotlib; without anything to compare there is none."""
    if not shown:
        return
    environments.ensure([CHART])
    data.write_text(json.dumps(shown))
    chart.parent.mkdir(exist_ok=True)
    command = [str(paths.env_python(CHART)), "-m", "benchmarks.chart", str(data), str(chart)]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the chart could not be drawn:\n{done.stderr[-2000:]}")
