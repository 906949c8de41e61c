"""Tables on the local disk, with a Hive Metastore."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import metastore_client, trees
from benchmarks.datasets import DATABASE, SCHEMA, Dataset
from benchmarks.places.tables import Unit
from benchmarks.workspace import PROGRAMS, SETTINGS, SPARK, Submitter, Workspace
from demo import tables as demo_tables
from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ
from tests.engines.metastore3 import metastore3


@dataclass(frozen=True)
class LocalTables:
    """Tables that are compacted together.

    Attributes:
        database: the database of all of them.
        names: without the database.
        schema: of the files, which is the same for all.
        seed: the folder that holds their files as they are before each step.
        root: the folder with their locations; it is made of the seed before each step.
        port: the metastore's.
    """

    database: str
    names: tuple[str, ...]
    schema: str
    seed: Path
    root: Path
    port: int

    @property
    def full_names(self) -> str:
        return ",".join(f"{self.database}.{name}" for name in self.names)

    def units(self) -> list[Unit]:
        output = self.root / "bare-output"
        return [
            Unit(str(self.root / unit), str(output / unit), files, size)
            for unit, (files, size) in trees.figures(self.seed).items()
        ]

    def reset(self) -> None:
        metastore_client.drop_backups(self.port, self.database)
        trees.restore(self.seed, self.root)
        trees.warm(self.seed)

    def forget_runs(self) -> None:
        """Delete what our jobs keep in the tables' directories, and leave the files alone."""
        for name in self.names:
            shutil.rmtree(self.root / name / ".lakekeeper", ignore_errors=True)

    def count(self, directory: str) -> int:
        return trees.count_in(directory)


class LocalPlace:
    """The metastore and the tables of one run of the benchmarks."""

    def __init__(self, workspace: Workspace, metastore: Metastore) -> None:
        environ = spark_environ(
            SPARK, metastore.uri, workspace.data / "spark", conf=SETTINGS, shared_classes=False
        )
        self.submit = Submitter(environ, workspace.logs)
        self.metastore = metastore
        self._data = workspace.data

    @classmethod
    @contextmanager
    def opened(cls, workspace: Workspace) -> Iterator[LocalPlace]:
        """Run a metastore until the end of the block."""
        with metastore3(workspace.data / "metastore") as metastore:
            yield cls(workspace, metastore)

    def prepare(self, dataset: Dataset, *, in_place: bool = False) -> LocalTables:
        """Write the files of a table and register it, unless an earlier run has kept them.

        Args:
            dataset: the table.
            in_place: its files are not rewritten: there is no seed from which they are restored.
        """
        tables = self._tables(dataset.name, DATABASE, (dataset.table,), SCHEMA)
        if in_place:
            tables = replace(tables, seed=tables.root)
        location = tables.root / dataset.table
        make = ("--files", tables.seed / dataset.table, "--location", location.as_uri())
        self._make(tables.seed, PROGRAMS / "make_table.py", dataset.name, *make)
        return tables

    def prepare_database(self, name: str) -> None:
        """Make a database of many tables, unless an earlier run has kept it."""
        root = self._data / "tables" / name
        self._make(root, PROGRAMS / "make_database.py", name, "--root", root)

    def prepare_demo(self) -> LocalTables:
        """Create the demo's tables, whose files become the seed."""
        schema = ", ".join(f"{name} {kind}" for name, kind in demo_tables.COLUMNS.items())
        names = tuple(table.name for table in demo_tables.TABLES)
        tables = self._tables("demo", demo_tables.DATABASE, names, schema)
        if self._make(tables.seed, Path(demo_tables.__file__), "--warehouse", tables.root):
            tables.root.rename(tables.seed)
        return tables

    def _tables(self, name: str, database: str, names: tuple[str, ...], schema: str) -> LocalTables:
        seed, root = self._data / "seeds" / name, self._data / "tables" / name
        return LocalTables(database, names, schema, seed, root, self.metastore.port)

    def _make(self, seed: Path, program: Path, *arguments: str | Path) -> bool:
        """Run a program that makes tables, unless it has been run; return whether it was."""
        complete = seed.with_suffix(".complete")
        if complete.exists():
            return False
        seed.parent.mkdir(parents=True, exist_ok=True)
        environ = {"PYTHONPATH": str(paths.ROOT)}
        self.submit.run(f"make-{seed.name}", program, *arguments, environ=environ)
        complete.touch()
        return True
