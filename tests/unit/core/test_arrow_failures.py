"""When Arrow is not used: what the driver and the executors say, and what a job that fails changes for later ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.spark.arrow import rewriter, versions
from spark_jobs.adapters.spark.arrow.rewriter import ArrowRewriter
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.protocol.ports import Arrow, JointFiles

#: What PySpark says of an exception in a worker.
TRACEBACK = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main
ModuleNotFoundError: No module named 'pyarrow'
"""


def _ask(monkeypatch: pytest.MonkeyPatch, answer: Callable[[Any], list[str]]) -> Arrow:
    monkeypatch.setattr(versions, "_versions", answer)
    return versions.ask(SimpleNamespace())  # type: ignore[arg-type]


def _raise(text: str) -> Any:
    raise RuntimeError(text)


def test_a_driver_without_pyarrow_is_named_and_no_executor_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = _ask(monkeypatch, lambda _: pytest.fail("the executors were asked"))
    assert found.version is None
    assert str(found.lack).startswith(f"the driver's Python ({sys.executable}) cannot use pyarrow: ")


def test_of_a_worker_s_traceback_the_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _ask(monkeypatch, lambda _: _raise(TRACEBACK))
    assert found.lack == "the executors cannot run pyarrow: ModuleNotFoundError: No module named 'pyarrow'"


@pytest.mark.parametrize(
    ("answers", "version", "lack"),
    [
        (["26.0.1"], "26.0.1", None),
        (["25.0.0", "26.0.1"], None, "the executors have pyarrow of several versions: 25.0.0, 26.0.1"),
        (["17.0.0"], None, "the executors have pyarrow 17.0.0, and not one of 18 to 26"),
    ],
)
def test_all_executors_have_one_version_that_the_jobs_know(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], version: str | None, lack: str | None
) -> None:
    found = _ask(monkeypatch, lambda _: answers)
    assert (found.version, found.lack) == (version, lack)


class Rewriter(ArrowRewriter):
    """Writes nothing; its jobs end as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: Exception | None) -> None:
        monkeypatch.setattr(rewriter.RowCalls, "__init__", lambda *_: None)
        monkeypatch.setattr(rewriter, "text", lambda _: SimpleNamespace(cast=lambda _: None))
        monkeypatch.setattr(rewriter.F, "from_json", lambda *_: None)
        monkeypatch.setattr(versions, "ask", lambda _: Arrow(version="26.0.1"))
        super().__init__(SimpleNamespace(), SimpleNamespace())  # type: ignore[arg-type]
        self._spark: Any = None
        self._ends = list(ends)
        self.jobs = 0

    def _write(self, *_: object) -> JointFiles:
        self.jobs += 1
        end = self._ends.pop(0)
        if end:
            raise end
        return JointFiles(["written"])


def _attempt(arrow: Rewriter) -> str:
    try:
        return str(arrow.write([], "staging").directories[0])
    except LakekeeperError as error:
        return str(error)


@pytest.mark.parametrize(
    ("error", "text"), [(RuntimeError("lost"), "lost"), (RuntimeError(""), "RuntimeError")]
)
def test_after_a_job_that_failed_arrow_is_not_used_and_its_version_is_still_known(
    monkeypatch: pytest.MonkeyPatch, error: Exception, text: str
) -> None:
    """Each attempt of its tasks may have cost an executor, and YARN ends an application that has lost some."""
    arrow = Rewriter(monkeypatch, None, error)
    assert _attempt(arrow) == "written"
    assert _attempt(arrow) == f"a job of Arrow has failed: {text}"
    lack = f"Arrow is not used any more: a job of Arrow has failed: {text}"
    assert _attempt(arrow) == lack
    assert (arrow.jobs, arrow.found()) == (2, Arrow("26.0.1", lack))
