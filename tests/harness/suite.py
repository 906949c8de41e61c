"""Run the suites, each in the environment it belongs to, and add up what came out.

    python3.11 -m tests.harness.suite              all of them
    python3.11 -m tests.harness.suite spark lint   some groups

A suite that ran no test has failed: an empty folder proves nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.harness import coverage, envs, machine, needs, paths
from tests.harness.outcome import Outcome, read_junit, summary
from tests.harness.processes import own_environ

OUT = paths.SCRATCH / "test"
NO_TESTS = 5
JOBS_UNIT = "tests/unit/core"

#: What a Spark asks of a metastore depends on its version, more than what it asks of HDFS.
METASTORE = tuple(f"tests/cluster/{name}.py" for name in ("test_metastore", "test_metastore_down"))


@dataclass(frozen=True)
class Suite:
    """One pytest run: which group asks for it, in which environment, on which folders.

    `measured` adds to the coverage; what runs the same lines a million times is none the wiser for being slower.
    `alone`: it waits for a scheduler or a browser, whose patience ends where others take the processors.
    `needs`: what this machine must have (`needs`).
    """

    name: str
    group: str
    env: str
    folders: tuple[str, ...]
    options: tuple[str, ...] = ()
    measured: bool = True
    alone: bool = False
    needs: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")


#: Those that mostly wait for servers stand among those that compute, for neighbours run side by side.
SUITES = (
    Suite("harness", "unit", "spark-3.5", ("tests/harness",)),
    Suite("unit jobs", "unit", "spark-3.5", (JOBS_UNIT,)),
    Suite("unit provider", "unit", "airflow-3.3", ("tests/unit", "tests/contract"), ("--ignore", JOBS_UNIT)),
    Suite("cluster", "cluster", "spark-3.5", ("tests/cluster",), measured=False, needs=("jars",)),
    Suite("crash", "crash", "spark-3.5", ("tests/crash",), measured=False),
    Suite("mutation", "mutation", "spark-3.5", ("tests/mutation",), measured=False),
    Suite("spark 3.5", "spark", "spark-3.5", ("tests/spark",)),
    Suite(
        "kerberos",
        "cluster",
        "airflow-kerberos",
        ("tests/kerberos",),
        measured=False,
        needs=("jars", "kerberos"),
    ),
    Suite("spark 4.3", "spark", "spark-4.3", ("tests/spark",)),
    Suite("cluster 4.3", "cluster", "spark-4.3", METASTORE, measured=False, needs=("jars",)),
    Suite("fidelity 3.5", "spark", "spark-3.5", ("tests/fidelity",), measured=False),
    Suite("fidelity 4.3", "spark", "spark-4.3", ("tests/fidelity",), measured=False),
    Suite("spark 3.3 smoke", "spark", "spark-3.3", ("tests/spark",), ("-m", "smoke")),
    Suite("soak", "spark", "spark-3.5", ("tests/soak",), measured=False),
    Suite("airflow 3.3", "airflow", "airflow-3.3", ("tests/airflow",), alone=True),
    Suite("airflow 2.11", "airflow", "airflow-2.11", ("tests/airflow",), ("-m", "not live"), alone=True),
    Suite("demo", "demo", "spark-3.5", ("tests/demo",), alone=True),
)

LINT = {
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
    "mypy provider": ("mypy", "-p", "lakekeeper_provider"),
    "mypy jobs": ("mypy", "-p", "spark_jobs"),
}

# Airflow suites submit to this one, and the demo runs on both.
ALSO_NEEDED = {"airflow": ("spark-3.5",), "cluster": ("spark-3.5", "airflow-3.3"), "demo": ("airflow-3.3",)}

GROUPS = ("lint", "unit", "crash", "mutation", "spark", "cluster", "airflow", "demo")

#: Suites that run side by side, and the memory in bytes that each of them wants.
AT_ONCE, MEMORY = 2, 5 * 1024**3

#: Set to `required`, the suites of the cluster may not stay away.
CLUSTER = "LAKEKEEPER_CLUSTER"


def run_groups(groups: Sequence[str]) -> int:
    started = time.monotonic()
    chosen = [suite for suite in SUITES if suite.group in groups]
    lacks = {suite: lack for suite in chosen for lack in [needs.lack(suite.needs)] if lack}
    able = [suite for suite in chosen if suite not in lacks]
    envs.ensure(needed_envs(able))
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    outcomes = lint() if "lint" in groups else []
    outcomes += [not_run(suite, lack) for suite, lack in lacks.items()]
    outcomes += run_all(able, started)
    if any(suite.measured for suite in able):
        coverage.report(OUT)
    print(summary(outcomes))
    return int(any(outcome.failed for outcome in outcomes))


def needed_envs(suites: Sequence[Suite]) -> list[str]:
    """In the order of the table, each once. `dev` reports the coverage."""
    wanted = {"dev", *(suite.env for suite in suites)}
    wanted.update(env for suite in suites for env in ALSO_NEEDED.get(suite.group, ()))
    return [name for name in envs.SPECS if name in wanted]


def lint() -> list[Outcome]:
    return [_check(name, command) for name, command in LINT.items()]


def _check(name: str, command: Sequence[str]) -> Outcome:
    print(f"\n== {name}", flush=True)
    started = time.monotonic()
    tool = paths.env_dir("dev") / "bin" / command[0]
    code = subprocess.run([tool, *command[1:]], cwd=paths.ROOT, env=own_environ()).returncode
    return Outcome(name, passed=int(code == 0), failed=int(code != 0), seconds=time.monotonic() - started)


def not_run(suite: Suite, lack: str) -> Outcome:
    print(f"\n== {suite.name}\n{lack}", flush=True)
    outcome = Outcome(suite.name, note="this machine lacks what it needs", missed=True)
    return outcome.but_failed(outcome.note) if os.environ.get(CLUSTER) == "required" else outcome


def run_all(suites: Sequence[Suite], started: float) -> list[Outcome]:
    """Some at a time, for most of them leave a processor idle; then those that want the machine for themselves."""
    together = [suite for suite in suites if not suite.alone]
    with ThreadPoolExecutor(at_once()) as pool:
        outcomes = list(pool.map(lambda suite: run(suite, started), together))
    return [*outcomes, *(run(suite, started) for suite in suites if suite.alone)]


def at_once() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(AT_ONCE, memory // MEMORY))


def run(suite: Suite, started: float) -> Outcome:
    """What a suite prints goes to a file, and is shown when it has ended: two of them would talk at once."""
    _say(started, f"{suite.name} in {suite.env}: started")
    environ, output, begun = _environ(suite), OUT / suite.slug / "output.txt", time.monotonic()
    with output.open("wb") as file:
        code = subprocess.run(
            _command(suite), cwd=paths.ROOT, env=environ, stdout=file, stderr=subprocess.STDOUT
        ).returncode
    outcome = _outcome(suite, code, time.monotonic() - begun)
    _say(started, f"{suite.name} in {suite.env}: ended\n{output.read_text(errors='replace')}")
    return outcome


def _say(started: float, text: str) -> None:
    print(f"\n== [{time.monotonic() - started:.0f} s] {text}", flush=True)


def _command(suite: Suite) -> list[str]:
    pytest = [str(paths.env_python(suite.env)), "-m", "pytest", "-q", *suite.folders, *suite.options]
    kept = [f"--junitxml={_junit(suite)}", "-o", f"cache_dir={OUT / suite.slug / 'cache'}"]
    return [*pytest, *kept, *(coverage.OPTIONS if suite.measured else ())]


def _environ(suite: Suite) -> dict[str, str]:
    """Airflow's home is below the scratch folder: nothing in the user's own is touched."""
    (OUT / suite.slug).mkdir(parents=True, exist_ok=True)
    return {
        **own_environ(),
        **(coverage.environ(OUT, suite.slug) if suite.measured else {}),
        "AIRFLOW_HOME": str(OUT / suite.slug / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PATH": f"{paths.env_dir(suite.env) / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }


def _junit(suite: Suite) -> Path:
    return OUT / suite.slug / "junit.xml"


def _outcome(suite: Suite, code: int, seconds: float) -> Outcome:
    outcome = read_junit(suite.name, _junit(suite), seconds)
    if code == NO_TESTS or (code == 0 and not outcome.passed):
        return outcome.but_failed("no test ran")
    if code and not outcome.failed:
        return outcome.but_failed(f"pytest ended with {code}")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the test suites.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    groups = parser.parse_args().groups or list(GROUPS)
    if unknown := sorted(set(groups) - set(GROUPS)):
        parser.error(f"no such group: {', '.join(unknown)} (there are {', '.join(GROUPS)})")
    try:
        return run_groups(groups)
    except (envs.EnvError, machine.MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
