"""The direction of a unit's swap, by its journal: forward for a compaction, reverse for a rollback."""

from __future__ import annotations

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.policy import SwapPolicy
from spark_jobs.protocol.swap.reverse import ReverseSwap
from spark_jobs.protocol.swap.swap_executor import SwapExecutor


def executor_of(services: Services, run: Run, unit: UnitState, policy: SwapPolicy) -> SwapExecutor:
    """Return what finishes the last swap of a unit."""
    if unit.kind in (journal.ROLLBACK_PREPARED, journal.ROLLED_BACK):
        return ReverseSwap(services, run, policy, unit.live_missing)
    return ForwardSwap(services, run, policy)
