"""Files of other libraries, of all types: compacted with the same rows, or refused with a code, and never failed.

The libraries are fetched by Maven; the C++ library of ORC is a Python package with an environment of its own.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.processes import own_environ
from tests.fidelity import reading, units
from tests.fidelity.foreign import libraries, parquet_mr, rows
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full

#: The libraries by format: how a program is started that writes their files.
ORC = ("orc-1.4", "orc-1.5", "orc-1.6", "orc-1.7", "orc-1.8", "orc-1.9", "C++ ORC")
PARQUET = ("parquet-1.8", "parquet-1.10", "parquet-1.12", "parquet-1.13", "parquet-1.15", "hive-3.1")
_PROGRAMS = {"orc": "orc_core", "parquet": "parquet_mr", "hive": "hive"}
#: Units that are refused, by library and name; all others are compacted.
REFUSED = {
    # Before 1582, and no calendar is noted.
    **{
        (library, unit): "CALENDAR"
        for unit in ("old_date", "old_timestamp")
        for library in PARQUET
        if library.startswith("parquet")
    },
    # Parquet's library would write an interval so that other readers take it for nulls.
    **{(library, "interval"): "TYPE" for library in PARQUET},
    ("hive-3.1", "timestamp"): "UNKNOWN_INT96_WRITER",
    # ORC's writer, which merges stripes, writes no such index.
    ("C++ ORC", "short_index"): "TYPE",
}
#: Types that a release of parquet-mr does not know.
_AFTER_1_10 = {"timestamp_nanos", "local_timestamp", "uuid", "float16"}
UNKNOWN = {
    "parquet-1.8": _AFTER_1_10 | {"time_micros", "timestamp_micros", "old_timestamp"},
    "parquet-1.10": _AFTER_1_10,
    "parquet-1.12": {"float16"},
    "parquet-1.13": {"float16"},
}
#: What only reading the values can find.
BY_VALUES = ("CALENDAR",)
#: What became of each unit, for the summary.
FOUND: dict[tuple[str, str], str] = {}


def _write(library: str, folder: Path) -> None:
    module = "tests.fidelity.foreign"
    if library == "C++ ORC":
        command = [paths.env_python("writers-python"), "-m", f"{module}.cpp_orc"]
    else:
        program = _PROGRAMS[library.partition("-")[0]]
        jars = str(libraries.folder(library))
        command = [paths.env_python("spark-3.5"), "-m", f"{module}.{program}", jars]
    done = subprocess.run(
        [*command, str(folder)], cwd=paths.ROOT, env=own_environ(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def _data(folder: Path) -> list[Path]:
    return [path for path in reading.data(folder) if path.stat().st_size]


def _rows(spark: SparkSession, library: str, files: Sequence[Path]) -> Counter[str]:
    if library in ORC:
        return rows.of_orc(spark, files)
    return Counter(repr(row) for file in files for row in reading.table(file))


@pytest.mark.parametrize("library", [*ORC, *PARQUET])
def test_all_types_are_kept_or_refused(
    spark: SparkSession, jobs: Jobs, database: Database, tmp_path: Path, library: str
) -> None:
    written = tmp_path / "written"
    _write(library, written)
    folders = {folder.name: folder for folder in sorted(written.iterdir())}
    if library.startswith("parquet"):
        assert set(folders) == {name.replace(" ", "_") for name in parquet_mr.UNITS} - UNKNOWN.get(
            library, set()
        )
    before = {name: _rows(spark, library, _data(folder)) for name, folder in folders.items()}
    table = units.partitioned(spark, database, "ORC" if library in ORC else "PARQUET", folders)
    foreseen, found = units.of(jobs, "analyze", table), units.of(jobs, "compact", table)
    FOUND.update({(library, name): units.outcome(unit) for name, unit in found.items()})
    after = {name: _rows(spark, library, _data(units.directory(database, name))) for name in found}
    assert after == before
    expected = {name: REFUSED.get((library, name), "compacted") for name in before}
    if "float16" in expected and spark.version < "4":
        expected["float16"] = "TYPE"  # Its Parquet library is older than the type.
    assert {name: units.outcome(unit) for name, unit in found.items()} == expected, found
    refused = {name for name, outcome in expected.items() if outcome not in ("compacted", *BY_VALUES)}
    assert {name for name, unit in foreseen.items() if unit["outcome"] == "skipped"} == refused
