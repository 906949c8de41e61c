"""Compact three tables through Airflow, and compare measurements from before and after.

    python3 -m demo.run

It runs a Hive Metastore, Spark and Airflow on 2,000 small Parquet files.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from demo import dag_run, measure, report, steps, ui
from demo.services import airflow_components, environments, machine, paths
from demo.services.commands import command
from demo.services.metastore import Metastore
from demo.workspace import AIRFLOW, DAG, DEFAULT, SPARK, Workspace


def demo(workspace: Workspace) -> list[str]:
    """Run all steps; return the differences between what was expected and what was measured."""
    environments.ensure([AIRFLOW, SPARK])
    workspace.clear()
    steps.announce("starting a Hive Metastore")
    with workspace.metastore() as metastore, ExitStack() as stack:
        # Both wait for one processor most of the time. Nothing runs beside a measurement.
        with ThreadPoolExecutor(1) as pool:
            starting = pool.submit(start_airflow, workspace, metastore, stack)
            create_tables(workspace, metastore)
            airflow = starting.result()
        before = measure_tables(workspace, metastore, "before")
        if wrong := report.start_problems(before):
            return wrong
        airflow.run(DAG)
        stack.close()
        after = measure_tables(workspace, metastore, "after", "--repair")
    print(f"\n{report.render(before, after)}\n\n{report.objects_line(before, after)}\n")
    return report.problems(before, after)


def create_tables(workspace: Workspace, metastore: Metastore) -> None:
    command = _spark_module("demo.tables", "--warehouse", workspace.warehouse)
    env = workspace.spark_environ(metastore)
    steps.run(
        "creating three tables of 500, 600 and 900 files", command, log=workspace.log("tables"), env=env
    )


def measure_tables(workspace: Workspace, metastore: Metastore, when: str, *options: str) -> report.Tables:
    """Measure all tables; `when` names the log and the file with the results."""
    results = workspace.root / f"{when}.json"
    command = _spark_module("demo.measure", "--out", results, *options)
    env = workspace.spark_environ(metastore)
    steps.run(f"measuring {when}", command, log=workspace.log(when), env=env)
    return measure.combine(workspace.warehouse, results)


def start_airflow(workspace: Workspace, metastore: Metastore, stack: ExitStack) -> dag_run.Airflow:
    """Start an Airflow as `make up` does, so that the UI shows the run with the logs of its tasks. `stack` stops it."""
    database = stack.enter_context(workspace.database())
    env = workspace.airflow_environ(metastore, database)
    command = [airflow_components.program(AIRFLOW), "db", "migrate"]
    steps.run("preparing Airflow's database", command, log=workspace.log("airflow-db"), env=env)
    airflow = stack.enter_context(dag_run.airflow(env, workspace))
    airflow.log_in()
    return airflow


def _spark_module(module: str, *arguments: str | Path) -> list[str | Path]:
    return [paths.env_python(SPARK), "-m", module, *arguments]


#: Errors whose message says what to do. RuntimeError is raised by the services and by the lock of the folder.
FAILURES = (machine.MachineError, steps.StepFailed, ui.UiRunning, RuntimeError)

SUCCESS = """\
Compacted: the same rows, in the same locations, in {files} files instead of {old_files}.

  The UI       {up} opens the page of these tables (Lakekeeper, in the navigation); {down} stops it
  Roll back    in the UI, clear only the task `rollback`: it undoes this run
  The DAG      example_dags/{dag}.py
  Your tables  docs/start/install.md, then docs/start/first-night.md
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Compact the demo's tables, and measure before and after.")
    parser.add_argument(
        "--scratch",
        type=Path,
        default=DEFAULT.root,
        help="the folder to work in; its content is deleted first",
    )
    workspace = Workspace(parser.parse_args().scratch.resolve())
    try:
        with workspace.lock():
            ui.require_stopped(workspace)
            problems = demo(workspace)
    except FAILURES as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; all processes that were started have been stopped", file=sys.stderr)
        return 130
    return _report_end(workspace, problems)


def _report_end(workspace: Workspace, problems: list[str]) -> int:
    """Print how the demo ended; return its exit code."""
    if problems:
        print("\n".join(["error: the result is not as expected:", *problems]), file=sys.stderr)
        return 1
    workspace.completed.touch()
    print(SUCCESS.format(files=13, old_files="2,000", dag=DAG, up=command("up"), down=command("down")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
