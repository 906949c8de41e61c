"""Tables on the local disk, with a Hive Metastore."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import metastore_client, trees
from benchmarks.datasets import DATABASE, SCHEMA, Dataset, outputs
from benchmarks.measuring import Measured, RunFailed
from benchmarks.workspace import JOBS, LAKEKEEPER, PROGRAMS, Submitter, Workspace, local_services
from demo import tables as demo_tables
from demo.services import paths
from demo.services.metastore import Metastore

#: Threads of the plain rewrite where there are several directories.
THREADS = 8


@dataclass(frozen=True)
class LocalTables:
    """Tables that are compacted together.

    Attributes:
        database: the database of all of them, in which nothing else is.
        names: without the database.
        schema: of the files, which is the same for all.
        seed: the folder that holds their files as they are before each step.
        root: the folder with their locations; it is made of the seed before each step.
    """

    database: str
    names: tuple[str, ...]
    schema: str
    seed: Path
    root: Path

    @property
    def full_names(self) -> str:
        return ",".join(f"{self.database}.{name}" for name in self.names)


class LocalPlace:
    """The services and the tables of one run of the benchmarks."""

    def __init__(self, workspace: Workspace, metastore: Metastore, submit: Submitter) -> None:
        self.workspace = workspace
        self.submit = submit
        self._metastore = metastore

    @classmethod
    @contextmanager
    def opened(cls, workspace: Workspace) -> Iterator[LocalPlace]:
        """Run a metastore until the end of the block."""
        with local_services(workspace) as (metastore, submit):
            yield cls(workspace, metastore, submit)

    def prepare(self, dataset: Dataset) -> LocalTables:
        """Write the files of a table and register it, unless an earlier run has kept them."""
        tables = self._tables(dataset.name, DATABASE, (dataset.table,), SCHEMA)
        location = tables.root / dataset.table
        make = ("--files", tables.seed / dataset.table, "--location", location.as_uri())
        return self._prepared(tables, PROGRAMS / "make_table.py", dataset.name, *make)

    def prepare_demo(self) -> LocalTables:
        """Create the demo's tables."""
        schema = ", ".join(f"{name} {kind}" for name, kind in demo_tables.COLUMNS.items())
        names = tuple(table.name for table in demo_tables.TABLES)
        tables = self._tables("demo", demo_tables.DATABASE, names, schema)
        self._prepared(tables, Path(demo_tables.__file__), "--warehouse", tables.root)
        return tables

    def _tables(self, name: str, database: str, names: tuple[str, ...], schema: str) -> LocalTables:
        data = self.workspace.data
        return LocalTables(database, names, schema, data / "seeds" / name, data / "tables" / name)

    def _prepared(self, tables: LocalTables, program: Path, *arguments: str | Path) -> LocalTables:
        complete = tables.seed.with_suffix(".complete")
        if not complete.exists():
            tables.seed.mkdir(parents=True, exist_ok=True)
            self.submit.run(
                f"make-{tables.seed.name}", program, *arguments, environ={"PYTHONPATH": str(paths.ROOT)}
            )
            complete.touch()
        return tables

    def reset(self, tables: LocalTables) -> None:
        """Bring files and metastore into the state before the first step."""
        metastore_client.drop_others(self._metastore.port, tables.database, tables.names)
        trees.restore(tables.seed, tables.root)
        trees.warm(tables.seed)

    def ours(self, label: str, verb: str, tables: LocalTables, *options: str) -> tuple[Measured, dict[str, Any]]:
        """Run one of our jobs; return what it took, and its report."""
        report = self.workspace.logs / f"{label}.report.json"
        report.unlink(missing_ok=True)
        measured = self.submit.run(
            label, JOBS / f"{verb}.py", "--tables", tables.full_names, "--report", report, *options
        )
        return measured, json.loads(report.read_text())

    def lakekeeper(self, label: str, tables: LocalTables) -> Measured:
        """Compact the tables with Lakekeeper."""
        script = PROGRAMS / "run_lakekeeper.py"
        return self.submit.run(label, script, "compact", "--tables", tables.full_names, python=LAKEKEEPER)

    def bare(self, label: str, tables: LocalTables) -> Measured:
        """Rewrite all directories of the tables into others."""
        units = [
            {"in": str(tables.root / unit), "out": str(bare_root(tables) / unit), "files": outputs(size)}
            for unit, size in trees.sizes(tables.seed).items()
        ]
        return run_bare(self.submit, label, units, tables.schema)


def bare_root(tables: LocalTables) -> Path:
    """Return the folder for the output of the plain rewrite, which `reset` deletes."""
    return tables.root / "bare-output"


def run_bare(submit: Submitter, label: str, units: Sequence[Mapping[str, Any]], schema: str) -> Measured:
    """Run the plain rewrite, in a session without a metastore: it needs none."""
    file = submit.logs / f"{label}.units.json"
    file.write_text(json.dumps(units))
    threads = str(THREADS if len(units) > 1 else 1)
    arguments = ("--units", file, "--schema", schema, "--threads", threads)
    conf = {"spark.sql.catalogImplementation": "in-memory"}
    return submit.run(label, PROGRAMS / "bare.py", *arguments, conf=conf)


def require_files(tables: LocalTables, root: Path, label: str) -> int:
    """Return how many files the directories of the tables have below `root`.

    Raises:
        RunFailed: they are not as many as their bytes ask for.
    """
    expected = sum(map(outputs, trees.sizes(tables.seed).values()))
    found = sum(trees.count_in(root / unit) for unit in trees.sizes(tables.seed))
    if found != expected:
        raise RunFailed(f"{label}: {found} files in {root}, expected {expected}")
    return found
