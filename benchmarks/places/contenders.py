"""The programs that are compared: our jobs, Lakekeeper, and the rewrite that a user would write by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.datasets import outputs
from benchmarks.measuring import Measured
from benchmarks.places.tables import Tables
from benchmarks.workspace import JOBS, LAKEKEEPER, PROGRAMS, Submitter

#: Threads of the plain rewrite where there are several directories.
THREADS = 8


def ours(
    submit: Submitter,
    label: str,
    verb: str,
    tables: Tables,
    *options: str,
    wrapper: Path | None = None,
    **more: Any,
) -> tuple[Measured, dict[str, Any]]:
    """Run one of our jobs with its defaults; return what it took, and its report.

    Args:
        submit: spark-submit.
        label: the name of its log.
        verb: the job.
        tables: the tables that it is about.
        options: additional arguments.
        wrapper: a program that runs the job, which is its first argument.
        more: for `Submitter.run`.
    """
    return job(submit, label, verb, "--tables", tables.full_names, *options, wrapper=wrapper, **more)


def job(
    submit: Submitter, label: str, verb: str, *arguments: str, wrapper: Path | None = None, **more: Any
) -> tuple[Measured, dict[str, Any]]:
    """Run one of our jobs with these arguments, among them its tables; see `ours`."""
    report = submit.logs / f"{label}.report.json"
    report.unlink(missing_ok=True)
    command = (*([wrapper] if wrapper else []), JOBS / f"{verb}.py")
    measured = submit.run(label, *command, *arguments, "--report", str(report), **more)
    return measured, json.loads(report.read_text())


def lakekeeper(submit: Submitter, label: str, tables: Tables) -> Measured:
    """Compact the tables with Lakekeeper."""
    script = PROGRAMS / "run_lakekeeper.py"
    return submit.run(label, script, "compact", "--tables", tables.full_names, python=LAKEKEEPER)


def bare(submit: Submitter, label: str, tables: Tables) -> Measured:
    """Rewrite all directories into others, in a session without a metastore: it needs none."""
    units = [{"in": unit.source, "out": unit.output, "files": outputs(unit.size)} for unit in tables.units()]
    file = submit.logs / f"{label}.units.json"
    file.write_text(json.dumps(units))
    threads = str(THREADS if len(units) > 1 else 1)
    arguments = ("--units", file, "--schema", tables.schema, "--threads", threads)
    conf = {"spark.sql.catalogImplementation": "in-memory"}
    return submit.run(label, PROGRAMS / "bare.py", *arguments, conf=conf)


def start(submit: Submitter, label: str) -> Measured:
    """Start a session with a metastore, and end it."""
    return submit.run(label, PROGRAMS / "start.py")
