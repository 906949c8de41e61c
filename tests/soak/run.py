"""Kill real Spark drivers again and again, and count what is lost, doubled or stuck afterwards.

python -m tests.soak.run --cycles 50 --seed 7        in a Spark environment; or: make soak CYCLES=50 SEED=7
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from demo.services import paths
from demo.services.processes import has_ended, spawn, stop, tail
from demo.workspace import Workspace
from tests.soak import tables
from tests.soak.cycle import Soak
from tests.soak.drivers import DriverError, Garage
from tests.soak.figures import Cycle, Observed, summary
from tests.soak.journals import litter
from tests.soak.ledger import Ledger
from tests.soak.plan import make_plan

STARTED = time.monotonic()


class Bystanders:
    """The appender, the reader and the watcher of gaps: they must live as long as the soak does."""

    def __init__(self, folder: Path, seed: str) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for module, *more in (("appender", seed), ("reader",), ("gaps",)):
            command = [sys.executable, "-m", f"tests.soak.{module}", folder, *more]
            self._processes[module] = spawn(command, log=self._log(module), cwd=paths.ROOT)

    def _log(self, module: str) -> Path:
        return self._folder / "logs" / f"{module}.log"

    def check(self) -> None:
        for module, process in self._processes.items():
            if has_ended(process):
                raise DriverError(f"the {module} has ended:\n{tail(self._log(module))}")

    def close(self) -> None:
        for process in self._processes.values():
            stop(process, timeout=2)


@contextmanager
def soaking(workspace: Workspace, seed: str) -> Iterator[tuple[Soak, Bystanders]]:
    """Metastore, tables, drivers and bystanders, all gone at the end whatever happens."""
    with ExitStack() as stack:
        stack.enter_context(workspace.lock())
        workspace.clear()
        workspace.log("soak")  # makes the folder
        metastore = stack.enter_context(workspace.metastore())
        garage = Garage(
            workspace.root, {**workspace.spark_environ(metastore), "PYTHONPATH": _frozen_jobs(workspace)}
        )
        stack.callback(garage.close)
        mechanic = garage.start().ready()
        garage.warm()
        units = tables.create(mechanic, workspace.warehouse)
        (workspace.root / "units.json").write_text(
            json.dumps({unit: str(path) for unit, path in units.items()})
        )
        ledger = Ledger(workspace.root / "ledger")
        writer = tables.Writer(units, workspace.root / "staging", ledger, first=0)
        bystanders = Bystanders(workspace.root, seed)
        stack.callback(bystanders.close)
        yield Soak(workspace.root, units, ledger, writer, mechanic, garage.take, garage.warm), bystanders


def _frozen_jobs(workspace: Workspace) -> str:
    """The jobs as they are now: what somebody edits meanwhile must not change a soak in the middle."""
    folder = workspace.root / "code"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(paths.ROOT / "spark_jobs", folder / "spark_jobs", ignore=ignored)
    return str(folder)


def soak(workspace: Workspace, cycles: int | None, minutes: float | None, seed: str) -> int:
    done: list[Cycle] = []
    found: Counter[str] = Counter()
    broken = False
    try:
        with soaking(workspace, seed) as (running, bystanders):
            say(f"seed {seed}; logs in {workspace.root}")
            try:
                while not _enough(len(done), cycles, minutes):
                    done.append(running.run(make_plan(seed, len(done) + 1)))
                    say(done[-1].line())
                    bystanders.check()
            finally:
                found = _litter(running)
    except (DriverError, KeyboardInterrupt) as error:
        broken = True
        say(f"stopped: {str(error) or type(error).__name__}")
    print(f"\n{summary(done, Observed.load(workspace.root), found, seed)}", flush=True)
    return int(broken or any(cycle.bad for cycle in done))


def _litter(soak: Soak) -> Counter[str]:
    homes = [tables.home(soak.units, table) for table in (tables.EVENTS, tables.FLAT)]
    return sum(map(litter, homes), Counter())


def _enough(done: int, cycles: int | None, minutes: float | None) -> bool:
    if minutes is not None:
        return time.monotonic() - STARTED >= 60 * minutes
    return done >= (cycles or 0)


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill Spark drivers at random instants, and count the rows.")
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--minutes", type=float, help="so long, instead of a number of cycles")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="for the same choices again")
    parser.add_argument("--scratch", type=Path, default=paths.SCRATCH / "soak")
    asked = parser.parse_args()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.default_int_handler)
    try:
        return soak(Workspace(asked.scratch.resolve()), asked.cycles, asked.minutes, asked.seed)
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
