"""Draw the chart of the page: the seconds of each program, one panel for each case.

    python -m benchmarks.chart DATA.json CHART.png      in the environment `bench`, which has matplotlib

DATA.json has a list of {"title": ..., "bars": [[name, median, least, greatest], ...]}.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

COLORS = {
    "this project": "#1f77b4",
    "this project, after an analysis": "#5fa2dd",
    "this project, engine Arrow": "#2ca02c",
    "engine Arrow, after an analysis": "#7fc97f",
    "Lakekeeper": "#d98c3f",
    "plain Spark": "#9a9a9a",
}


def draw(panels: list[dict[str, Any]], out: Path) -> None:
    """Write the chart; each panel has a scale of its own, and each bar the same height."""
    inches = [0.45 + 0.25 * len(panel["bars"]) for panel in panels]
    figure, axes = pyplot.subplots(
        len(panels), 1, figsize=(8, 0.4 + sum(inches)), squeeze=False, height_ratios=inches
    )
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        _panel(axis, panel)
    figure.tight_layout()
    # Without the version of matplotlib, so that the same figures make the same file.
    figure.savefig(out, dpi=120, metadata={"Software": None})


def _panel(axis: Any, panel: Mapping[str, Any]) -> None:
    names = [bar[0] for bar in panel["bars"]]
    medians = [bar[1] for bar in panel["bars"]]
    errors = [[bar[1] - bar[2] for bar in panel["bars"]], [bar[3] - bar[1] for bar in panel["bars"]]]
    axis.barh(names, medians, xerr=errors, capsize=3, color=[COLORS.get(name, "#666666") for name in names])
    for position, (_, median, _, greatest) in enumerate(panel["bars"]):
        axis.text(greatest, position, f"  {median:.0f} s", va="center", fontsize=9)
    axis.set_title(panel["title"], fontsize=10, loc="left")
    axis.set_xlim(0, max(bar[3] for bar in panel["bars"]) * 1.12)
    axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=9)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
