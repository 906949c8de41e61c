"""The engines that read the tables, with the questions that each asks in all phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tests.engines import by_path, questions
from tests.engines.answers import Answer, of_rows
from tests.engines.hive import HiveServer, QueryFailed, ask_all
from tests.engines.questions import ALL, SCANNED
from tests.engines.tables import Table, create_database, data_files
from tests.engines.trino import Trino

HIVE_3, HIVE_4, TRINO, FILES = "Hive 3.1.3", "Hive 4.0.1", "Trino 368", "readers of files"
#: Of Hive: whether it skips stripes and row groups by their statistics.
_SKIP, _SCAN = (f"SET hive.optimize.index.filter={value}" for value in ("true", "false"))
#: The types whose constants all readers of files take alike.
_SHARED = ("int", "bigint", "string", "char", "varchar")
#: The answers by the name of what has read, and of the table, and then by the name of the question.
Found = dict[tuple[str, str], dict[str, Answer]]


class Reader(Protocol):
    """Something that reads tables."""

    def read(self, tables: Sequence[Table], *, conditions: Callable[[Table], bool]) -> Found:
        """Return the answers to the question for all rows, and to the conditions on the columns of some tables."""

    def stop(self) -> None:
        """End what was started."""


class SqlReader:
    """An engine with SQL. The constants of its conditions are of the first rows that it reads."""

    def __init__(self, name: str, dialect: str, server: HiveServer | Trino) -> None:
        self._name, self._dialect, self._server = name, dialect, server
        self._statements: dict[str, dict[str, str]] = {}
        #: The columns of each table that have a NaN.
        self._nan: dict[str, list[str]] = {}

    def read(self, tables: Sequence[Table], *, conditions: Callable[[Table], bool]) -> Found:
        return {(self._name, table.name): self._of_table(table, conditions(table)) for table in tables}

    def stop(self) -> None:
        self._server.stop()

    def first_rows(self, table: Table) -> list[Any]:
        """Return all rows of a table; none where the engine fails to read it."""
        return self._all(table)[0]

    def _all(self, table: Table) -> tuple[list[Any], Answer]:
        try:
            rows = list(self._server.ask(f"SELECT * FROM {table.qualified}"))
        except QueryFailed as error:
            return [], Answer(error=str(error))
        return rows, of_rows(rows)

    def _of_table(self, table: Table, conditions: bool) -> dict[str, Answer]:
        rows, answer = self._all(table)
        found = {ALL: answer}
        if conditions:
            known = self._known(table, rows)
            found |= {question: self._answer(statement) for question, statement in known.items()}
            found |= self._scanned(table, known)
        return found

    def _known(self, table: Table, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
        """Return the conditions, with constants of the rows that were read first."""
        if table.name not in self._statements:
            # Trino leaves columns out whose types it does not know: then it is asked for all rows only.
            columns = table.all_columns if rows and len(rows[0]) == len(table.all_columns) else {}
            self._statements[table.name] = questions.statements(self._dialect, table.qualified, columns, rows)
            self._nan[table.name] = questions.with_nan(columns, rows)
        return self._statements[table.name]

    def _scanned(self, table: Table, statements: Mapping[str, str]) -> dict[str, Answer]:
        """Ask the conditions on columns with a NaN in ORC files once more, so that Hive skips nothing."""
        columns = self._nan[table.name] if self._dialect == "hive" and table.stored == "ORC" else []
        if not columns:
            return {}
        self._server.ask(_SCAN)
        found = {f"{column}{SCANNED}": self._answer(statements[column]) for column in columns}
        self._server.ask(_SKIP)
        return found

    def _answer(self, statement: str) -> Answer:
        try:
            return of_rows(self._server.ask(statement))
        except QueryFailed as error:
            return Answer(error=str(error))


class FileReaders:
    """The readers that know no metastore, in one process for each phase."""

    def __init__(self, root: Path, scratch: Path, model: SqlReader) -> None:
        self._root, self._scratch, self._model = root, scratch, model
        self._constants: dict[str, dict[str, Any]] = {}

    def read(self, tables: Sequence[Table], *, conditions: Callable[[Table], bool]) -> Found:
        asked: list[by_path.Question] = []
        for table in tables:
            constants = self._known(table) if conditions(table) else {}
            asked.append((table.name, data_files(table.folder(self._root)), constants))
        return by_path.ask(asked, self._scratch)

    def stop(self) -> None:
        """Their processes have ended."""

    def _known(self, table: Table) -> dict[str, Any]:
        """Return the constants of a table, taken from the rows of an engine that knows it."""
        if table.name not in self._constants:
            rows = self._model.first_rows(table)
            self._constants[table.name] = _constants(table.columns, rows)
        return self._constants[table.name]


def _constants(columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, (column, kind) in enumerate(columns.items()):
        name = kind.partition("(")[0]
        text = questions.constant(name, [row[place] for row in rows]) if name in _SHARED else None
        if text is not None:
            found[column] = int(text) if name in ("int", "bigint") else text
    return found


def hive_4(server: HiveServer, root: Path, tables: Sequence[Table]) -> SqlReader:
    """Return Hive 4 with a metastore of its own, to which the tables are declared by their directories."""
    declared = [statement for table in tables for statement in table.declare(root)]
    ask_all(server, [create_database(root), *declared])
    return SqlReader(HIVE_4, "hive", server)
