"""Run the suites, each in the environment it belongs to, and add up what came out.

    python3 -m tests.harness.suite                    what `make test` runs: one version of each thing, and what
                                                         differs between versions on the others
    python3 -m tests.harness.suite --all              everything, on all versions
    python3 -m tests.harness.suite --all --resume     go on where the last run of everything stopped
    python3 -m tests.harness.suite spark lint         some groups

A suite that ran no test has failed: an empty folder proves nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from demo.services import environments, paths, pythons, uv
from demo.services.folder_lock import FolderLocked, folder_lock
from demo.services.machine import MachineError
from tests.harness import coverage, jobs, needs, results, timings
from tests.harness.job_runner import Ended, Runner
from tests.harness.outcome import Outcome, read_report_log, slowest, summary
from tests.harness.suites import GROUPS, LINT, SUITES, Suite, chosen

NO_TESTS = 5
#: In the table of times: that of a whole run.
TOTAL = "total"

#: Suites that compute side by side, and the memory in bytes that each of them wants.
AT_ONCE, MEMORY = 2, 5 * 1024**3

#: Set to `required`, the suites of the cluster may not stay away.
CLUSTER = "LAKEKEEPER_CLUSTER"


class Session:
    """One run: the outcomes so far, and what to do as each job ends."""

    def __init__(self, plan: jobs.Plan) -> None:
        self._plan = plan
        self._started = time.monotonic()
        self._seconds: dict[str, float] = {}
        self._results = results.Results(plan.out / "results.json")
        self.outcomes: list[Outcome] = []

    def run(self, groups: Sequence[str], *, resume: bool) -> None:
        """Run the suites of these groups; on KeyboardInterrupt, `outcomes` holds what ended until then."""
        suites = chosen(groups)
        suites = self._without_passed(suites) if resume else self._fresh(suites)
        lacks = {suite: lack for suite in suites if (lack := needs.lack(suite))}
        self.outcomes += [self._not_run(suite, lack) for suite, lack in lacks.items()]
        able = [suite for suite in suites if suite not in lacks]
        whole = set(groups) == set(GROUPS) and not resume
        self._announce(len(suites), whole)
        try:
            Runner(at_once(), self._say, self._on_end).run(self._plan.jobs(able, lint="lint" in groups))
            # A suite that failed may have been shorter.
            if whole and not any(outcome.failed for outcome in self.outcomes):
                self._seconds[TOTAL] = time.monotonic() - self._started
        finally:
            timings.record(self._plan.test_set, self._seconds)

    def _announce(self, suites: int, whole: bool) -> None:
        """Nobody should have to find out how long it takes."""
        seconds = timings.expected(self._plan.test_set).get(TOTAL) if whole else None
        about = f", about {seconds / 60:.0f} minutes on a machine with two cores" if seconds else ""
        self._say(
            f"{suites} suites{about}; what they leave is in {self._plan.out.relative_to(paths.SCRATCH.parent)}"
        )

    def _fresh(self, suites: list[Suite]) -> list[Suite]:
        """What an earlier run of the same suites left is gone."""
        shutil.rmtree(self._plan.out, ignore_errors=True)
        self._results.begin()
        return suites

    def _without_passed(self, suites: list[Suite]) -> list[Suite]:
        passed = self._results.resume()
        for suite in suites:
            log = self._plan.report_log(suite)
            if suite.name in passed:
                found = read_report_log(suite.name, log)
                self.outcomes.append(replace(found, usage=passed[suite.name], note="passed before"))
            else:
                shutil.rmtree(log.parent, ignore_errors=True)
        return [suite for suite in suites if suite.name not in passed]

    def _not_run(self, suite: Suite, lack: str) -> Outcome:
        self._say(f"{suite.name}: not run. {lack}")
        return not_run(suite, lack)

    def _on_end(self, ended: Ended) -> None:
        name = ended.job.name
        if not ended.reason:
            self._seconds[name] = ended.usage.wall
        outcome = self._outcome(ended)
        output = ended.job.log.read_text(errors="replace") if ended.job.log.exists() else ""
        took = f" ({ended.usage})" if ended.code is not None else ""
        self._say(f"{name}: {ended.reason or 'ended'}{took}\n{output}{slowest(outcome) if outcome else ''}")
        if outcome:
            self.outcomes.append(outcome)
            self._results.add(outcome)

    def _outcome(self, ended: Ended) -> Outcome | None:
        """That of a suite or a check; an environment counts only where it could not be made."""
        suite = self._plan.suites.get(ended.job.name)
        if suite and ended.blocked_by in jobs.OPTIONAL:
            hint = jobs.OPTIONAL[ended.blocked_by]
            return not_run(
                suite,
                f"{ended.blocked_by}: could not be made on this machine ({hint}); see {self._log(ended)}",
            )
        if suite:
            return suite_outcome(suite, ended, self._plan)
        if ended.job.name in jobs.OPTIONAL:
            return None
        if ended.job.name in LINT:
            return Outcome(ended.job.name, passed=int(ended.ok), failed=int(not ended.ok), usage=ended.usage)
        return (
            None if ended.ok else Outcome(ended.job.name, failed=1, note=ended.reason or "could not be made")
        )

    def _log(self, ended: Ended) -> Path:
        """Of the job that failed first, as one would type it from the checkout."""
        log = self._plan.log(ended.blocked_by or ended.job.name)
        return log.relative_to(paths.ROOT) if log.is_relative_to(paths.ROOT) else log

    def _say(self, text: str) -> None:
        print(f"\n== [{time.monotonic() - self._started:.0f} s] {text}", flush=True)


def not_run(suite: Suite, lack: str) -> Outcome:
    outcome = Outcome(suite.name, note=lack, missed=True)
    return outcome.but_failed(lack) if os.environ.get(CLUSTER) == "required" else outcome


def suite_outcome(suite: Suite, ended: Ended, plan: jobs.Plan) -> Outcome:
    """A suite passed if pytest did, and a test ran."""
    left = plan.left_out(suite)
    found = read_report_log(suite.name, plan.report_log(suite))
    outcome = replace(found, usage=ended.usage, left=left)
    if ended.reason:
        return outcome.but_failed(f"{ended.reason} {outcome.note}".strip())
    if ended.code == NO_TESTS or (ended.code == 0 and not outcome.passed):
        return outcome.but_failed("no test ran")
    if ended.code and not outcome.failed:
        return outcome.but_failed(f"pytest ended with {ended.code} {outcome.note}".strip())
    return outcome


def in_order(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Checks and environments first, then the suites as they are listed."""
    names = [suite.name for suite in SUITES]
    return sorted(outcomes, key=lambda each: names.index(each.name) if each.name in names else -1)


def at_once() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(AT_ONCE, memory // MEMORY))


def run(groups: Sequence[str], *, everything: bool, resume: bool = False, covered: bool = False) -> int:
    """Run some groups; returns the exit code. The summary is printed also where the run is cut short."""
    pythons.require_python()
    environments.ensure_java()
    if left := needs.left_out(chosen(groups)):
        print(left, flush=True)
    uv.ensure()
    whole = set(groups) == set(GROUPS)
    plan = jobs.Plan("all" if everything else "default", covered, () if whole else tuple(groups))
    session, cut = Session(plan), False
    with folder_lock(plan.out, "another run of the same suites"):
        try:
            session.run(groups, resume=resume)
        except KeyboardInterrupt:
            cut = True
        print(summary(in_order(session.outcomes), plan.out.relative_to(paths.SCRATCH.parent)))
        if cut:
            print("interrupted: what had not been started is not in the table", file=sys.stderr)
        if covered:
            coverage.report(plan.out)
    return 130 if cut else int(any(outcome.failed for outcome in session.outcomes))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suites.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--all", action="store_true", help="everything, on all versions")
    parser.add_argument(
        "--resume", action="store_true", help="skip the suites that have passed on this commit"
    )
    parser.add_argument("--coverage", action="store_true", help="measure which lines of the product are run")
    options = parser.parse_args()
    groups = options.groups or list(GROUPS)
    if unknown := sorted(set(groups) - set(GROUPS)):
        parser.error(f"no such group: {', '.join(unknown)} (there are {', '.join(GROUPS)})")
    if options.resume and (options.groups or not options.all):
        parser.error("only a run of everything can be resumed: --all --resume, without groups")
    for stopped in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stopped, _interrupt)
    try:
        return run(groups, everything=options.all, resume=options.resume, covered=options.coverage)
    except (MachineError, results.CannotResume, FolderLocked) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
