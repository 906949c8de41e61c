"""Functions that return a figure of the results of all cases, or None if it was not measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from benchmarks.arithmetic import Line, line, ratio
from benchmarks.results import Results

All = Mapping[str, Results]


def times(case: str, of: str, to: str, what: str = "wall") -> Callable[[All], float | None]:
    """Return a function for the ratio of the medians of two steps."""

    def value(found: All) -> float | None:
        if case not in found:
            return None
        both = ratio(found[case].values(of, what), found[case].values(to, what))
        return both.of_medians if both else None

    return value


def beyond_start(case: str, step: str) -> Callable[[All], float | None]:
    """Return a function for the seconds of a step without those that every job of Spark takes."""

    def value(found: All) -> float | None:
        seconds, start = median(found, case, step), median(found, case, "start")
        return None if seconds is None or start is None else seconds - start

    return value


def median(found: All, case: str, step: str, what: str = "wall") -> float | None:
    """Return the median of what was measured; None if nothing was."""
    values = found[case].values(step, what) if case in found else {}
    return statistics.median(values.values()) if values else None


def figure(case: str, step: str, name: str) -> Callable[[All], float | None]:
    """Return a function for the median of a figure of a step."""

    def value(found: All) -> float | None:
        values = found[case].figures(step, name) if case in found else {}
        return statistics.median(values.values()) if values else None

    return value


def growth_beyond_start(case: str, small: str, large: str) -> Callable[[All], float | None]:
    """Return a function for how many times as long a step takes as another one, without Spark's start."""
    of_small, of_large = beyond_start(case, small), beyond_start(case, large)

    def value(found: All) -> float | None:
        less, more = of_small(found), of_large(found)
        return more / less if less and more else None

    return value


#: Two tables on HDFS, one with ten times the files of the other.
SMALL, LARGE = "hdfs-650", "hdfs-6500"


def hdfs_line(found: All, step: str) -> Line | None:
    """Return what a step takes on HDFS whatever the table, and for each file."""
    points = [
        (found[case].facts["files"], median(found, case, step)) for case in (SMALL, LARGE) if case in found
    ]
    if len(points) != 2 or points[0][1] is None or points[1][1] is None:
        return None
    return line((points[0][0], points[0][1]), (points[1][0], points[1][1]))


def of_hdfs(combine: Callable[[Line, Line], float], step: str = "ours") -> Callable[[All], float | None]:
    def value(found: All) -> float | None:
        ours, bare = hdfs_line(found, step), hdfs_line(found, "bare")
        return combine(ours, bare) if ours and bare else None

    return value


def fixed_beyond(ours: Line, bare: Line) -> float:
    return ours.fixed - bare.fixed


def slopes(ours: Line, bare: Line) -> float:
    return ours.slope / bare.slope


def growth_of_calls(step: str) -> Callable[[All], float | None]:
    """Return a function for the largest ratio of calls, over all jobs and all that they call."""

    def value(found: All) -> float | None:
        figures = [result.figures for result in found["growth"].of(step)] if "growth" in found else []
        return max((each["largest"] for each in figures), default=None)

    return value
