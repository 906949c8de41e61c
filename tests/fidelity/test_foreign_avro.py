"""Avro files of other libraries, of all types: compacted with the same records and schemas, or refused with a code."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.processes import own_environ
from tests.fidelity import reading, units
from tests.fidelity.foreign import libraries
from tests.fidelity.foreign.avro_units import UNITS
from tests.fidelity.test_foreign_files import FOUND
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full

LIBRARIES = ("avro-1.7", "avro-1.8", "avro-1.9", "avro-1.10", "avro-1.11", "avro-1.12", "fastavro")
_MODULE = "tests.fidelity.foreign.avro_python"


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=paths.ROOT, env=own_environ(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def _write(library: str, folder: Path) -> None:
    if library == "fastavro":
        _run(paths.env_python("writers-python"), "-m", _MODULE, "write", folder)
        return
    jars, program = libraries.folder(library), "tests.fidelity.foreign.avro_java"
    _run(paths.env_python("spark-3.5"), "-m", program, jars, folder)


def _contents(folders: Mapping[str, Path]) -> dict[str, Counter[str]]:
    """The records of each unit with the schemas and the metadata of their files, by fastavro."""
    files = [
        (name, file)
        for name, folder in folders.items()
        for file in reading.data(folder)
        if file.stat().st_size
    ]
    found = json.loads(
        _run(paths.env_python("writers-python"), "-m", _MODULE, "read", *(file for _, file in files))
    )
    contents: dict[str, Counter[str]] = {name: Counter() for name in folders}
    for (name, _), (schema, metadata, records) in zip(files, found, strict=True):
        header = json.dumps([schema, {"avro.codec": "null", **metadata}], sort_keys=True)
        contents[name][header] = 1
        contents[name].update(f"{header} {record}" for record in records)
    return contents


def _bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in reading.data(folder)}


def _marker(file: bytes) -> bytes:
    at = file.rindex(file[-16:], 0, -16)
    return file[:at] + b"\xee" * 16 + file[at + 16 :]


#: What becomes of the first file of a unit; `other` is the second one.
DAMAGE: dict[str, Callable[[bytes, bytes], bytes]] = {
    "truncated": lambda file, _: file[:-30],
    "truncated_at_a_block": lambda file, _: file[: file.rindex(file[-16:], 0, -16) + 16],
    "truncated_header": lambda file, _: file[:50],
    "corrupt_marker": lambda file, _: _marker(file),
    "concatenated": lambda file, other: file + other,
    # Its sync marker is the same.
    "concatenated_with_itself": lambda file, _: file + file,
    "empty": lambda _, __: b"",
}
DAMAGED = set(DAMAGE) - {"truncated_at_a_block", "empty"}
#: Only reading finds that these are damaged.
FOUND_BY_READING = {"corrupt_marker", "concatenated_with_itself"}
REFUSED = {
    "metadata_of_its_own": "TYPE",
    "metadata_of_one_file": "TYPE",
    "reserved_metadata": "TYPE",
    "codec_lz4": "CODEC",
}
#: What Java's library rejects where a program writes it.
REJECTED = {"codec_lz4", "reserved_metadata", "names"}
LACKING = {
    "fastavro": set[str](),
    **{library: REJECTED | {"codec_zstandard"} for library in ("avro-1.7", "avro-1.8")},
}


def _folders(library: str, written: Path) -> dict[str, Path]:
    """The directories that the library writes, by unit; some of their files are damaged."""
    _write(library, written)
    found = {folder.name: folder for folder in sorted(written.iterdir())}
    known = {name.replace(" ", "_") for name in UNITS}
    assert set(found) == known - LACKING.get(library, REJECTED)
    for name, damage in DAMAGE.items():
        first, second = reading.data(found[name])[:2]
        first.write_bytes(damage(first.read_bytes(), second.read_bytes()))
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_types_are_kept_or_refused(
    spark: SparkSession, jobs: Jobs, database: Database, tmp_path: Path, library: str
) -> None:
    folders = _folders(library, tmp_path / "written")
    readable = {name: folder for name, folder in folders.items() if name not in DAMAGED}
    contents, files = _contents(readable), {name: _bytes(folder) for name, folder in folders.items()}
    table = units.partitioned(spark, database, "AVRO", folders)
    foreseen, found = (
        units.of(jobs, verb, table, "--min-input-files", "2") for verb in ("analyze", "compact")
    )
    FOUND.update({(library, name): units.outcome(unit) for name, unit in found.items()})
    outcomes = {name: "UNREADABLE" if name in DAMAGED else REFUSED.get(name, "compacted") for name in folders}
    assert {name: units.outcome(unit) for name, unit in found.items()} == outcomes, found
    skipped = {name for name, unit in foreseen.items() if unit["outcome"] == "skipped"}
    assert skipped == set(folders) & (set(REFUSED) | DAMAGED - FOUND_BY_READING)
    assert _contents({name: units.directory(database, name) for name in readable}) == contents
    left = [name for name, outcome in outcomes.items() if outcome != "compacted"]
    assert {name: _bytes(units.directory(database, name)) for name in left} == {
        name: files[name] for name in left
    }
    assert all("0.avro" in found[name]["reason"] for name in DAMAGED)


def test_a_table_whose_schema_is_another_version_reads_the_same_rows(
    spark: SparkSession, jobs: Jobs, database: Database, tmp_path: Path
) -> None:
    """Its columns are those of `avro.schema.literal`: with an alias, a default, and without a column of the files."""
    _write("fastavro", tmp_path / "written")
    (database.path / "t").parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "written/two_versions").rename(database.path / "t")
    schema = {
        "type": "record",
        "name": "Row",
        "namespace": "n",
        "fields": [
            {"name": "number", "aliases": ["id"], "type": "long"},
            {"name": "text", "aliases": ["string"], "type": "string", "doc": "what it is"},
            {"name": "kind", "type": "string", "default": "none"},
        ],
    }
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t STORED AS AVRO LOCATION '{(database.path / 't').as_uri()}'"
        f" TBLPROPERTIES ('avro.schema.literal'='{json.dumps(schema)}')"
    )
    table = f"{database}.t"
    before = sorted(spark.table(table).collect())
    (unit,) = only(jobs("compact", "--table", table, "--min-input-files", "2"))["units"]
    assert (unit["outcome"], len(reading.data(database.path / "t"))) == ("compacted", 2), unit
    spark.catalog.refreshTable(table)
    assert len(before) == 1200
    assert {row.kind for row in before} == {"none"}
    assert sorted(spark.table(table).collect()) == before
