"""The jobs of a run: environments and libraries, checks of the sources, and a pytest for each suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demo.services import environments, paths
from demo.services.processes import own_environ
from tests.cluster import jars
from tests.engines import jars as engine_jars
from tests.harness import coverage, timings
from tests.harness.job_runner import Job, Lane
from tests.harness.suites import LINT, LINTED, Suite, env_of_lint, environments_of, optional_environments_of

JARS = "cluster jars"
ENGINE_JARS = "engine jars"
#: The jobs that fetch libraries, by the need of a suite.
_JARS = {"jars": JARS, "engines": ENGINE_JARS}
#: A test that hangs shows where: pytest dumps all stacks after so many seconds.
_DUMP_SECONDS = 600


@dataclass
class Plan:
    """What a run does.

    Attributes:
        test_set: "default" or "all".
        covered: coverage is measured.
        groups: of a run of some groups, their names; it has a folder of its own, so that `make lint` takes nothing
            away from a `make test` that is going on, nor from one that can be resumed.
    """

    test_set: str
    covered: bool = False
    groups: tuple[str, ...] = ()
    suites: dict[str, Suite] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        """Everything that the run leaves."""
        whole = ("all",) if self.test_set == "all" else ()
        return paths.SCRATCH / "-".join(("test", *(self.groups or whole)))

    def report_log(self, suite: Suite) -> Path:
        return self.out / suite.slug / "report.jsonl"

    def log(self, job: str) -> Path:
        """What a job prints."""
        return self._folder(job.replace(" ", "-")) / "output.txt"

    def left_out(self, suite: Suite) -> tuple[str, ...]:
        """The ids of its tests that this set leaves out."""
        file = self.out / suite.slug / "left.txt"
        return tuple(file.read_text().splitlines()) if file.exists() else ()

    def jobs(self, suites: Sequence[Suite], *, lint: bool) -> list[Job]:
        """Return the jobs for these suites, and for what they need that is not there yet."""
        self.suites = {suite.name: suite for suite in suites}
        expected = timings.expected(self.test_set)
        wanted = {env for suite in suites for env in environments_of(suite)}
        wanted |= {env for suite in suites for env in self._optional(suite)}
        wanted |= {*(LINTED if lint else ()), *(["dev"] if self.covered else [])}
        setup = [*self._environments(wanted), *self._libraries(suites)]
        made = {job.name for job in setup}
        checks = list(self._lint(expected, made)) if lint else []
        return [*setup, *checks, *(self._pytest(suite, expected, made) for suite in suites)]

    def _environments(self, wanted: set[str]) -> Iterator[Job]:
        names = [name for name in environments.SPECS if name in wanted and not environments.is_current(name)]
        for number, name in enumerate(names):
            command = (sys.executable, "-m", "demo.services.environments", name)
            base = environments.SPECS[name].base
            after = frozenset({_env_job(base)} if base in names else ())
            # In the order of the table: the first ones are what most suites wait for.
            yield self._job(_env_job(name), command, Lane.SETUP, expected=1e6 - number, after=after)

    def _libraries(self, suites: Sequence[Suite]) -> Iterator[Job]:
        if any("jars" in suite.needs for suite in suites) and not jars.is_current():
            yield self._job(JARS, (sys.executable, "-m", "tests.cluster.jars"), Lane.SETUP, expected=1e6)
        names = engine_jars.of_set(self.test_set)
        if any("engines" in suite.needs for suite in suites) and not engine_jars.is_current(names):
            command = (sys.executable, "-m", "tests.engines.jars", *names)
            yield self._job(ENGINE_JARS, command, Lane.SETUP, expected=1e6)

    def _lint(self, expected: dict[str, float], made: set[str]) -> Iterator[Job]:
        after = frozenset({*map(_env_job, LINTED)} & made)
        for name, (tool, *arguments) in LINT.items():
            command = (paths.env_dir(env_of_lint(name)) / "bin" / tool, *arguments)
            yield self._job(name, command, Lane.COMPUTE, expected=expected.get(name, 0), after=after)

    def _pytest(self, suite: Suite, expected: dict[str, float], made: set[str]) -> Job:
        needed = {
            *map(_env_job, (*environments_of(suite), *self._optional(suite))),
            *(job for need, job in _JARS.items() if need in suite.needs),
        }
        return Job(
            suite.name,
            self._command(suite),
            self.log(suite.name),
            self._environ(suite),
            suite.lane,
            suite.limit,
            expected.get(suite.name, 0),
            frozenset(needed & made),
        )

    def _job(
        self,
        name: str,
        command: Sequence[str | os.PathLike[str]],
        lane: Lane,
        *,
        expected: float,
        after: frozenset[str] = frozenset(),
    ) -> Job:
        return Job(name, tuple(command), self.log(name), own_environ(), lane, expected=expected, after=after)

    def _command(self, suite: Suite) -> tuple[str, ...]:
        folder = self._folder(suite.slug)
        return (
            *(str(paths.env_python(suite.env)), "-m", "pytest", "-q", *suite.folders),
            *(
                f"--report-log={self.report_log(suite)}",
                f"--left-out={folder / 'left.txt'}",
                f"--test-set={self.test_set}",
            ),
            *("-o", f"cache_dir={folder / 'cache'}", "-o", f"faulthandler_timeout={_DUMP_SECONDS}"),
            *suite.options,
            *(coverage.OPTIONS if self.covered else ()),
        )

    def _environ(self, suite: Suite) -> dict[str, str]:
        """Airflow's home is below the scratch folder: nothing in the user's own is touched."""
        return {
            **own_environ(),
            **(coverage.environ(self.out, suite.slug) if self.covered else {}),
            "AIRFLOW_HOME": str(self._folder(suite.slug) / "airflow"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "PATH": f"{paths.env_dir(suite.env) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }

    def _optional(self, suite: Suite) -> list[str]:
        return [env for env in optional_environments_of(suite, self.test_set) if not environments.lacks(env)]

    def _folder(self, slug: str) -> Path:
        folder = self.out / slug
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _env_job(name: str) -> str:
    return f"environment {name}"


#: Jobs that a few suites need: where they fail, this machine lacks something, and the other suites go on.
#: Each with what to look for there.
OPTIONAL = {
    **dict.fromkeys(_JARS.values(), "is a Maven repository within reach?"),
    **{
        _env_job(
            name
        ): "it is compiled; on Debian and Ubuntu: apt-get install gcc libc6-dev libkrb5-dev python3-dev"
        for name, spec in environments.SPECS.items()
        if spec.base
    },
}
