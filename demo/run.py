"""Compact three tables through Airflow, and measure before and after.

    python3.11 -m demo.run

Everything is real but small: a Hive Metastore, Spark, Airflow's own runner, 2,000 Parquet files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from demo import measure, report, steps, ui
from demo.services import environments, machine, paths
from demo.services.metastore import Metastore
from demo.workspace import AIRFLOW, DAG, DEMO, SPARK, Place, airflow_command


def demo(place: Place) -> list[str]:
    """Return the promises that were not kept."""
    environments.ensure([AIRFLOW, SPARK])
    place.wipe()
    steps.announce("starting a Hive Metastore")
    with place.metastore() as metastore:
        make_tables(place, metastore)
        before = measured(place, metastore, "before")
        if wrong := report.start_problems(before):
            return wrong
        run_dag(place, metastore)
        after = measured(place, metastore, "after", "--repair")
    print(f"\n{report.render(before, after)}\n")
    return report.problems(before, after)


def make_tables(place: Place, metastore: Metastore) -> None:
    command = _spark_module("demo.tables", "--warehouse", place.warehouse)
    env = place.spark_environ(metastore)
    steps.run("making three tables of 500, 600 and 900 files", command, log=place.log("tables"), env=env)


def measured(place: Place, metastore: Metastore, when: str, *more: str) -> report.Tables:
    answers = place.root / f"{when}.json"
    command = _spark_module("demo.measure", "--out", answers, *more)
    steps.run(f"measuring {when}", command, log=place.log(when), env=place.spark_environ(metastore))
    return measure.combine(place.warehouse, answers)


def run_dag(place: Place, metastore: Metastore) -> None:
    with place.database() as database:
        _run_dag(place.airflow_environ(metastore, database), place)


def _run_dag(env: Mapping[str, str], place: Place) -> None:
    for name, title, command in (
        ("airflow-db", "preparing Airflow's database", ("db", "migrate")),
        ("dag", f"running the DAG {DAG}", ("dags", "test", DAG)),
        # Or a task that is cleared in the UI would wait for ever.
        ("unpause", f"unpausing {DAG}, for the UI", ("dags", "unpause", DAG, "--yes")),
    ):
        steps.run(title, airflow_command(*command), log=place.log(name), env=env)


def _spark_module(module: str, *arguments: str | Path) -> list[str | Path]:
    return [paths.env_python(SPARK), "-m", module, *arguments]


NEXT = """\
Compacted: the same rows, in the same places, in {files} files instead of {old_files}.

  make up      the Airflow UI on these tables; make down stops it
  Roll back    in the UI, clear the task that rolls back, alone: it undoes this run
  The DAG      example_dags/{dag}.py
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Compact the demo's tables, and measure before and after.")
    parser.add_argument("--scratch", type=Path, default=DEMO.root, help="where to work; it is wiped first")
    place = Place(parser.parse_args().scratch.resolve())
    try:
        with place.claimed():
            ui.require_stopped(place)
            broken = demo(place)
    except (environments.EnvError, machine.MachineError, steps.StepFailed, ui.Running, RuntimeError) as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; everything that was started has been stopped", file=sys.stderr)
        return 130
    if broken:
        print("\n".join(["error: not as promised:", *broken]), file=sys.stderr)
        return 1
    place.done.touch()
    print(NEXT.format(files=13, old_files="2,000", dag=DAG))
    return 0


if __name__ == "__main__":
    sys.exit(main())
