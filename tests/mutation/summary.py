"""What the mutations add up to, for the end of pytest's output."""

from __future__ import annotations

from collections.abc import Mapping

from tests.mutation.hazards import ALL, MUTATIONS, PARTLY, PLANNED, hazards


def lines(killed: Mapping[str, bool]) -> list[str]:
    """A line for each hazard that was tried, and one for all; `killed` says by id whether a test failed."""
    tried = [mutation for mutation in MUTATIONS if mutation.id in killed]
    texts = [
        f"mutation: {mutation.id:<14} {'killed' if killed[mutation.id] else 'SURVIVED':<8} {mutation.what}"
        for hazard in ALL
        for mutation in tried
        if mutation.hazard == hazard
    ]
    left = [mutation.id for mutation in tried if not killed[mutation.id]]
    outcome = f"not killed: {' '.join(left)}" if left else "all killed"
    partly = f"; in part planned: {' '.join(PARTLY)}" if PARTLY else ""
    total = f"mutation: {len(hazards(tried))} hazards, {len(tried)} mutations, {outcome}"
    return [*texts, f"{total}; planned: {' '.join(PLANNED)}{partly}"]
