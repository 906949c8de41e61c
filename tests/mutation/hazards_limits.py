"""Guards of the first units of a run, which have to prove themselves. All on the model."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Remove

_LIMITS = "tests/crash/test_limits.py"
_CANARY = "tests/crash/test_canary.py"

LIMITS = (
    Mutation(
        "H46-alone",
        "other units are begun before the canaries have proved themselves",
        (Remove("canaries_alone"),),
        (f"{_CANARY}::test_a_canary_that_fails_stops_the_job",),
    ),
    Mutation(
        "H46-hash",
        "the values of the canaries are not compared",
        (Remove("canaries_hashed"),),
        (f"{_CANARY}::test_the_canaries_are_compared_value_by_value_before_the_others_begin",),
    ),
)
