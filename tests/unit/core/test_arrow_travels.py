"""The functions for Python workers reach executors that have none of the jobs' modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle

import spark_jobs.adapters.spark.arrow.rewriter  # noqa: F401 - it says what travels by value
from spark_jobs.adapters.spark.arrow import versions, worker
from tests.unit.core.test_arrow_worker import WRITING, _batch, _file

#: What PySpark's worker does with a function; the accumulator stands for PySpark's.
_WORKER = """
import pickle, sys
import pyarrow as pa
assert not [name for name in sys.modules if name.startswith("spark_jobs")]
with open(sys.argv[1], "rb") as file:
    function, content = pickle.load(file)
batches = pa.ipc.open_stream(content)
for batch in function(iter(batches)):
    print(batch.schema.names, batch.column(0).to_pylist())
assert not [name for name in sys.modules if name.startswith("spark_jobs")]
"""


class _Reasons:
    def add(self, reason: dict[int, str]) -> None:
        raise AssertionError(reason)


def _run(tmp_path: Path, function: Any, batch: Any) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    file = tmp_path / "function.pickle"
    file.write_bytes(cloudpickle.dumps((function, sink.getvalue().to_pybytes())))
    command = [sys.executable, "-I", "-c", _WORKER, str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_rewrite_needs_no_module_of_the_jobs(tmp_path: Path) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        out = _run(tmp_path, worker.rewriting(WRITING, _Reasons()), _batch([_file(0), _file(10)]))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert out == "['unit', 'value'] [0]\n"


def test_the_question_for_the_version_needs_none_either(tmp_path: Path) -> None:
    tasks = pa.RecordBatch.from_arrays([pa.array([1, 2])], ["task"])
    assert _run(tmp_path, versions._version, tasks) == f"['version'] ['{pa.__version__}']\n"
