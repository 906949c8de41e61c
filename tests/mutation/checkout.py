"""A copy of both packages and their tests, in which guards may be removed; and a process that runs pytest there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths
from demo.services.processes import own_environ
from tests.mutation.guards import PRODUCTS
from tests.mutation.runner import BASELINE
from tests.mutation.verdict import Verdict

#: What the parent's pytest and coverage tell their children is not meant for these; and bytecode spares each run of a
#: checkout, which is thrown away with it, to compile all modules anew.
_OF_THE_PARENT = ("COV", "PYTEST_", "PYTHONDONTWRITEBYTECODE")
LIMIT = 600.0
#: The environment that runs the mutations of the provider and its pages; all others run in that of the suite.
PROVIDER = "airflow-3.3"
_WITH_AIRFLOW = ("provider", "pages")


def make(folder: Path) -> Path:
    """The sources as they are now; the environments stay where they are."""
    folder.mkdir(parents=True)
    for name in (*PRODUCTS, "demo", "tests"):
        shutil.copytree(paths.ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(paths.ROOT / "pyproject.toml", folder)
    (folder / ".envs").symlink_to(paths.ENVS)
    return folder


def environ() -> dict[str, str]:
    """Our own, and nothing that would make a child of pytest report to its parent's coverage."""
    return {name: value for name, value in own_environ().items() if not name.startswith(_OF_THE_PARENT)}


def _airflow(folder: Path) -> dict[str, str]:
    """Airflow writes below this folder, and not into a person's home directory."""
    return {"AIRFLOW_HOME": os.fspath(folder / "airflow"), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}


@dataclass(frozen=True)
class Runs:
    """The runs of one environment, which go on in a process of their own; see `runner`.

    `baseline`: also without any mutation, in `make test-all`. In `make test`, the suites of these tests do that.
    """

    out: Path
    process: subprocess.Popen[bytes]
    baseline: bool

    @classmethod
    def start(cls, folder: Path, env: str, ids: Sequence[str], *, baseline: bool) -> Runs:
        checkout, out = make(folder / "checkout"), folder / "out"
        out.mkdir()
        python = paths.env_dir(PROVIDER) / "bin" / "python" if env in _WITH_AIRFLOW else sys.executable
        first = BASELINE if baseline else "mutated"
        command = [os.fspath(python), "-m", "tests.mutation.runner", os.fspath(out), env, first, *ids]
        with (out / "log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=checkout,
                env={**environ(), **_airflow(out)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return cls(out, process, baseline)

    def verdict(self, name: str) -> Verdict:
        """Waits for the run of this name."""
        until = time.monotonic() + LIMIT
        while not (self.out / f"{name}.done").exists():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"no run of {name}:\n{(self.out / 'log').read_text()[-3000:]}")
            time.sleep(0.1)
        return Verdict.read(self.out / f"{name}.xml", (self.out / f"{name}.txt").read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
