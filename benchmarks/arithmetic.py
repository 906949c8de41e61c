"""Medians, ratios, and the line through two points: everything that the page computes from measurements."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some values, with the least and the greatest of them."""

    median: float
    least: float
    greatest: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """Return the spread of at least one value."""
    return Spread(statistics.median(values), min(values), max(values), len(values))


@dataclass(frozen=True)
class Ratio:
    """How many times as long one step takes as another.

    Attributes:
        of_medians: the ratio of the two medians.
        of_pairs: the spread of the ratios of each round, in which both ran one after the other.
    """

    of_medians: float
    of_pairs: Spread


def ratio(of: Mapping[int, float], to: Mapping[int, float]) -> Ratio | None:
    """Return the ratio of two steps.

    Args:
        of: the values of the one by round.
        to: the values of the other by round.

    Returns:
        None if no round has both.
    """
    pairs = [of[number] / to[number] for number in sorted(of.keys() & to.keys())]
    if not pairs:
        return None
    return Ratio(statistics.median(of.values()) / statistics.median(to.values()), spread(pairs))


@dataclass(frozen=True)
class Line:
    """What grows with the amount of work, and what does not."""

    fixed: float
    slope: float


def line(first: tuple[float, float], second: tuple[float, float]) -> Line:
    """Return the line through two points, each an amount of work and its seconds."""
    slope = (second[1] - first[1]) / (second[0] - first[0])
    return Line(first[1] - slope * first[0], slope)
