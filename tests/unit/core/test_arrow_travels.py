"""The functions for Python workers reach executors that have none of the jobs' modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.accumulators import Accumulator

import spark_jobs.adapters.spark.arrow.rewriter  # noqa: F401 - it says what travels by value
from spark_jobs.adapters.spark.arrow import versions, worker
from tests.unit.core.test_arrow_worker import WRITING, _batch, _file

#: What PySpark's worker does with a function, and what its accumulators have then.
_WORKER = """
import pickle, sys
import pyarrow as pa
from pyspark import accumulators
assert not [name for name in sys.modules if name.startswith("spark_jobs")]
with open(sys.argv[1], "rb") as file:
    function, content = pickle.load(file)
batches = pa.ipc.open_stream(content)
for batch in function(iter(batches)):
    print(batch.schema.names, batch.column(0).to_pylist())
print([each._value for each in accumulators._accumulatorRegistry.values()])
assert not [name for name in sys.modules if name.startswith("spark_jobs")]
"""


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
    reasons: Accumulator[dict[int, str]] = Accumulator(0, {}, worker.Reasons())
    out = _run(tmp_path, worker.rewriting(WRITING, reasons), _batch([_file(0), _file(10)]))
    assert out == "['unit', 'value'] [0]\n[{}]\n"


def test_the_reason_of_a_refusal_comes_back_from_a_worker_without_modules_of_the_jobs(tmp_path: Path) -> None:
    reasons: Accumulator[dict[int, str]] = Accumulator(0, {}, worker.Reasons())
    out = _run(tmp_path, worker.rewriting(WRITING, reasons), _batch([_file(0)], unit=3, longer=1))
    size = len(_file(0))
    assert out == f"[{{3: 'f0 has {size} bytes instead of {size + 1}'}}]\n"


def test_the_question_for_the_version_needs_none_either(tmp_path: Path) -> None:
    tasks = pa.RecordBatch.from_arrays([pa.array([1, 2])], ["task"])
    assert _run(tmp_path, versions._version, tasks) == f"['version'] ['{pa.__version__}']\n[]\n"
