"""The runs of a native table: two names of commits each, which the table itself keeps.

`lakekeeper-before-RUN` is set before the first procedure of a run, and `lakekeeper-after-RUN` after the last one. So
what a run has done is known from the table alone, after a kill too, and the format keeps the files of the commit before
until a cleanup removes the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.layout import generation, generation_number, is_run_id
from spark_jobs.protocol.native_ports import Commit, NativeTable

BEFORE, AFTER = "lakekeeper-before-", "lakekeeper-after-"
#: How a report tells the name of a commit from a path.
TAG = "tag "


@dataclass(frozen=True)
class NativeRun:
    """A run.

    Attributes:
        before: the commit that it has found.
        after: its last commit; None if it has not ended.
    """

    run_id: str
    before: str
    after: str | None


@dataclass(frozen=True)
class NativeHistory:
    """The commits of a table, oldest first, and the runs among them, oldest first."""

    commits: Sequence[Commit]
    runs: Sequence[NativeRun]

    @classmethod
    def of(cls, table: NativeTable) -> NativeHistory:
        """Read the history of a table."""
        commits, tags = table.commits(), table.tags()
        place = {commit.id: number for number, commit in enumerate(commits)}
        runs = sorted(_runs(tags), key=lambda run: (place.get(run.before, -1), run.run_id))
        return cls(commits, runs)

    @property
    def current(self) -> str | None:
        """Return the present state; None of a table that was never written."""
        return self.commits[-1].id if self.commits else None

    def since(self, commit: str) -> Sequence[Commit] | None:
        """Return the commits after one; None if it has not led to the present state, or that is not known."""
        places = [number for number, each in enumerate(self.commits) if each.id == commit]
        return self.commits[places[0] + 1 :] if places else None

    def can_be_rolled_back(self, run: NativeRun) -> bool:
        """Tell whether a rollback would restore the files of the run, and nothing else."""
        later = self.since(run.before)
        return bool(later) and all(commit.rewrites for commit in later or ())  # guard: rewrites_only

    def check_rollback(self, run: NativeRun) -> None:
        """Raise Refusal where a rollback would take rows away that were committed since."""
        later = self.since(run.before)
        if later is None:
            raise Refusal(
                RefusalCode.NEWER_COMMITS,
                f"the commits since {run.before}, which run {run.run_id} has found, are not all kept any more: what was"
                " committed since is not known",
            )
        newer = [commit for commit in later if not commit.rewrites]
        if newer:  # guard: newer_commits_stay
            raise Refusal(
                RefusalCode.NEWER_COMMITS,
                f"{len(newer)} newer commits of other writers follow run {run.run_id}, the first one {newer[0].id} of"
                f" {newer[0].at:%Y-%m-%d %H:%M} UTC: a rollback would take their rows away",
            )

    def of_id(self, run_id: str) -> list[NativeRun]:
        """Return the run and its generations, oldest first."""
        return [run for run in self.runs if generation_number(run_id, run.run_id)]

    def next_id(self, run_id: str) -> str:
        """Return the name of the next generation of a run."""
        return generation(
            run_id, 1 + max((generation_number(run_id, r.run_id) for r in self.runs), default=0)
        )


def _runs(tags: Mapping[str, str]) -> list[NativeRun]:
    """Return the runs by the names of commits. A name that no job gives is somebody else's."""
    names = {name[len(BEFORE) :]: commit for name, commit in tags.items() if name.startswith(BEFORE)}
    return [
        NativeRun(name, before, tags.get(f"{AFTER}{name}"))
        for name, before in names.items()
        if is_run_id(name)
    ]


def own_names(table: NativeTable) -> list[str]:
    """Return the names of commits that are ours, as a report has them."""
    return [f"{TAG}{name}" for name in sorted(table.tags()) if name.startswith((BEFORE, AFTER))]


def forget(table: NativeTable, run: NativeRun) -> None:
    """Remove the names of a run. The one before goes last: as long as it is there, the run is known."""
    if run.after is not None:
        table.untag(f"{AFTER}{run.run_id}")
    table.untag(f"{BEFORE}{run.run_id}")


def settle(table: NativeTable, history: NativeHistory) -> NativeHistory:
    """End the runs that were killed, and return the history after it.

    One that has committed nothing is forgotten, and one that has gets its name after. That is safe whoever has made the
    last rewriting commit: a rollback asks for all commits since the one before.
    """
    left = [run for run in history.runs if run.after is None]
    for run in left:
        rewriting = [commit for commit in history.since(run.before) or () if commit.rewrites]
        if rewriting:
            table.tag(f"{AFTER}{run.run_id}", rewriting[-1].id)
        elif history.since(run.before) is not None:
            forget(table, run)
    return NativeHistory.of(table) if left else history
