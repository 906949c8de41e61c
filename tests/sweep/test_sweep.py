"""A random part of the sweep: other values of settings change no rows, types or metadata."""

from __future__ import annotations

import random

import pytest

from tests.sweep.run import main


@pytest.mark.full
@pytest.mark.one_version
def test_other_values_of_settings_lose_nothing() -> None:
    """Of all single flips, and of pairs: as many as fit into the minutes. Those of `known.json` are always tried."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    assert main(["--again", "--sample", "0.1", "--seed", str(seed), "--minutes", "7"]) == 0
    assert main(["--again", "--pairs", "100", "--seed", str(seed), "--minutes", "2"]) == 0
