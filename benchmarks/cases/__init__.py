"""The cases, by name, in the order in which they run."""

from __future__ import annotations

from benchmarks.cases import analysis, beside, compaction, footers, growth, query, scale, undo
from benchmarks.cases.case import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *compaction.CASES,
        *undo.CASES,
        *query.CASES,
        *beside.CASES,
        *analysis.CASES,
        *footers.CASES,
        *scale.CASES,
        *growth.CASES,
    )
}
