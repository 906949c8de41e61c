"""Runs the tests of several mutations, each an edit on disk, one after the other.

    python -m tests.mutation.runner OUT ENV (baseline | mutated) ID ...

Python, pytest and what the tests import of others are imported once, and each run on the model or of the provider is a
fork of that: it costs what its tests cost.
A metastore and a JVM take half a minute to start and cannot be forked, so that the runs on Spark share one process, in
which only the modules of the jobs and of their tests are forgotten in between. The first run is that of all tests
without any mutation, unless these run in suites of their own beside this one. Each leaves `<id>.xml`, `<id>.txt` and
then `<id>.done` in OUT.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tests.mutation.guards import GuardNotFound
from tests.mutation.hazards import MUTATIONS
from tests.mutation.mutation import applied

BASELINE = "baseline"
ROOT = Path(__file__).resolve().parents[2]
#: Modules without state of a mutation; the fixtures hold what stays warm.
_KEPT = ("tests.harness", "tests.mutation")
#: What is imported once for all forks. As a plugin of pytest, Hypothesis would be rewritten in each of them.
_WARM = {
    "model": ("hypothesis", "pyspark.sql"),
    "provider": (
        "airflow.providers.apache.spark.operators.spark_submit",
        "airflow.providers.common.compat.sdk",
    ),
}
Run = Callable[[Path, str, Sequence[str]], None]


def main(out: Path, env: str, ids: Sequence[str], *, baseline: bool) -> None:
    chosen = [mutation for mutation in MUTATIONS if mutation.id in ids]
    (out / "tmp").mkdir()
    for name in _WARM.get(env, ()):
        importlib.import_module(name)
    pytest.main(["--version"])  # imports pytest's plugins, once for all forks
    with _warm_spark(out) if env == "spark" else nullcontext():
        run = _run_here if env == "spark" else _run_forked
        if baseline:
            _finish(out, BASELINE, run, sorted({test for mutation in chosen for test in mutation.tests}))
        for mutation in chosen:
            try:
                with applied(ROOT, mutation):
                    _finish(out, mutation.id, run, ["-x", *mutation.tests])
            except GuardNotFound as error:
                print(error, file=sys.stderr)  # the test says so too, and does not wait for this run


def _finish(out: Path, name: str, run: Run, arguments: Sequence[str]) -> None:
    run(out, name, arguments)
    (out / f"{name}.done").touch()


def _run(out: Path, name: str, arguments: Sequence[str]) -> None:
    kept = [f"--junitxml={out / name}.xml", f"--basetemp={out / 'tmp' / name}"]
    with (out / f"{name}.txt").open("w") as log, redirect_stdout(log), redirect_stderr(log):
        pytest.main(["-q", "-p", "no:cacheprovider", *kept, *arguments])


def _run_forked(out: Path, name: str, arguments: Sequence[str]) -> None:
    child = os.fork()
    if child == 0:
        try:
            _run(out, name, arguments)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _run_here(out: Path, name: str, arguments: Sequence[str]) -> None:
    before = dict(os.environ)
    _forget()
    _run(out, name, arguments)
    os.environ.clear()
    os.environ.update(before)


def _forget() -> None:
    for name in list(sys.modules):
        ours = name.split(".")[0] in ("spark_jobs", "tests")
        if ours and name != "tests" and not name.startswith(_KEPT):
            del sys.modules[name]
    importlib.invalidate_caches()


@contextmanager
def _warm_spark(out: Path) -> Iterator[None]:
    """One metastore and one session, whatever the fixtures start and stop."""
    from pyspark.sql import SparkSession

    from demo.services.metastore import Metastore
    from tests.harness import fixtures

    with Metastore(out / "metastore") as metastore:
        fixtures.Metastore = lambda _: nullcontext(metastore)  # type: ignore[assignment,misc]
        stop, SparkSession.stop = SparkSession.stop, lambda _: None
        yield
        session = SparkSession.getActiveSession()
        if session is not None:
            stop(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[4:], baseline=sys.argv[3] == BASELINE)
