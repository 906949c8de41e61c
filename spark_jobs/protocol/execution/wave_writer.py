"""The writer of the units of a wave: small ones of one kind in joint writes, all others each in a job of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, Union

from spark_jobs.core.planning.decisions import Decision
from spark_jobs.core.planning.ordering import is_small
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.protocol.execution.joint_writer import JointWriter
from spark_jobs.protocol.execution.unit_writer import UnitWriter
from spark_jobs.protocol.execution.written_unit import StagedUnit, UnitDraft, WrittenUnit
from spark_jobs.protocol.ports import Pool

log = logging.getLogger("lakekeeper")

Arg = TypeVar("Arg")
Result = TypeVar("Result")
#: A unit between the steps: its plan if it is written by itself, its draft, its files in a joint write, the end, or the
#: decision or the error that called it off.
Step = Union[UnitPlan, UnitDraft, "tuple[UnitDraft, StagedUnit]", WrittenUnit, Decision, Exception]


class WaveWriter:
    """The writer of the units of a wave.

    Every error calls off the unit in which it was raised, and no other one.

    Args:
        jointly: small units are written together.
        by_arrow: Arrow may write units, of any size.
    """

    def __init__(
        self, units: UnitWriter, joint: JointWriter, *, jointly: bool, by_arrow: bool = False
    ) -> None:
        self._units = units
        self._joint = joint
        self._jointly = jointly
        self._by_arrow = by_arrow

    def write(self, pool: Pool, plans: Sequence[UnitPlan]) -> list[WrittenUnit | Decision | Exception]:
        """Write the units of a wave. Return each one written and verified, or what called it off.

        First small units are inspected. Then the jobs run, joint writes and others side by side. What Arrow was to
        write and has not, Spark writes in jobs of its own. Then each unit of a joint write is completed in its own
        directory. One that failed in a joint write is written by itself.
        """
        steps: list[Step] = list(pool.map(self._begin, plans))
        by_arrow = [number for number, step in enumerate(steps) if _is_by_arrow(step)]
        self._run_jobs(pool, steps, range(len(steps)))
        if by_arrow:
            for number, step in zip(
                by_arrow, pool.map(self._after_arrow, [steps[each] for each in by_arrow])
            ):
                steps[number] = step
            self._run_jobs(pool, steps, by_arrow)
        written = list(pool.map(self._complete, steps))
        self._joint.discard()
        return written

    def _begin(self, plan: UnitPlan) -> Step:
        early = self._by_arrow or (self._jointly and is_small(plan))
        return _caught(self._units.draft, plan) if early else plan

    def _after_arrow(self, step: Step) -> Step:
        """Return a unit that Arrow has written, once its rows are compared where that is asked for; or its draft.

        Nothing is begun after the deadline.
        """
        if isinstance(step, tuple):
            draft, staged = step
            difference = _caught(lambda pair: self._joint.compare_rows(*pair), step)
            if not isinstance(difference, Exception):
                return draft, staged
            step = draft.by_spark(str(difference))
        return (self._units.late() or step) if isinstance(step, UnitDraft) else step

    def _run_jobs(self, pool: Pool, steps: list[Step], numbers: Sequence[int]) -> None:
        """Run the jobs of some units, and put what they return into the steps."""
        jobs = self._jobs(steps, numbers)
        for job, done in zip(jobs, pool.map(lambda job: self._run(job, steps), jobs)):
            for number, step in zip(job, done):
                steps[number] = step

    def _jobs(self, steps: Sequence[Step], numbers: Sequence[int]) -> list[list[int]]:
        """Return the numbers of the units of each job, the joint writes first. Units that were called off have none."""
        kinds: dict[Hashable, list[int]] = {}
        for number in numbers:
            step = steps[number]
            if isinstance(step, (UnitPlan, UnitDraft)):
                kind = self._kind(step)
                kinds.setdefault((kind, number if kind is None else None), []).append(number)
        return sorted(kinds.values(), key=len, reverse=True)

    def _kind(self, step: Step) -> Hashable | None:
        """Return the kind of a draft. Where that fails, the unit is written by itself, and fails alone."""
        kind = _caught(self._joint.kind, step) if isinstance(step, UnitDraft) else None
        return None if isinstance(kind, Exception) else kind

    def _run(self, job: Sequence[int], steps: Sequence[Step]) -> list[Step]:
        drafts = [step for step in (steps[number] for number in job) if isinstance(step, UnitDraft)]
        if len(drafts) > 1 or any(map(_is_by_arrow, drafts)):
            return [_or_draft(draft, staged) for draft, staged in zip(drafts, self._joint.write(drafts))]
        return [self._write_alone(steps[number]) for number in job]

    def _write_alone(self, step: Step) -> Step:
        if isinstance(step, UnitPlan):
            return _caught(self._units.write, step)
        return _caught(self._units.write_draft, step) if isinstance(step, UnitDraft) else step

    def _complete(self, step: Step) -> WrittenUnit | Decision | Exception:
        """Return a unit written: one of a joint write by moving its files, one that failed there by its own job."""
        if isinstance(step, tuple):
            return _caught(lambda pair: self._units.take(*pair), step)
        done = self._write_alone(step)
        assert not isinstance(done, (UnitPlan, UnitDraft, tuple))  # noqa: S101 - for mypy
        return done


def _is_by_arrow(step: Step) -> bool:
    return isinstance(step, UnitDraft) and step.inspection.by_arrow


def _or_draft(draft: UnitDraft, staged: StagedUnit | Exception) -> Step:
    """Return the step after a joint write: the unit with its files, or its draft, which Spark then writes.

    A draft of Spark's is then written by itself; those of Arrow together where they can be.
    """
    if isinstance(staged, StagedUnit):
        return draft, staged
    log.info(
        "%s is written again, %s: %s",
        draft.plan.unit,
        "by Spark" if _is_by_arrow(draft) else "by itself",
        staged,
    )
    return draft.by_spark(str(staged)) if _is_by_arrow(draft) else draft


def _caught(act: Callable[[Arg], Result], item: Arg) -> Result | Exception:
    """Return the result of a call, or its error."""
    try:
        return act(item)
    except Exception as error:
        return error
