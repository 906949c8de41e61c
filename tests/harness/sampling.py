"""Chooses the cases of a table that the default set of tests runs; all others only run with `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], *default: Any) -> list[Any]:
    """The parameters of a test: those of the default set as they are, all others marked `full`."""
    found = list(cases)
    unknown = [case for case in default if case not in found]
    assert not unknown, unknown
    return [case if case in default else pytest.param(case, marks=pytest.mark.full) for case in found]
