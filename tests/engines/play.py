"""The tables are written, read, compacted, read, rolled back, read, compacted by Arrow and in part, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.adapters.hadoop.sql import qualified
from spark_jobs.core.values.model import TableName
from tests.engines import hive_rows, hive_tables, python_files, spark_files
from tests.engines.answers import NOTHING, Answer, Answers, difference, missing
from tests.engines.hive import HiveServer, ask_all
from tests.engines.questions import SCANNED
from tests.engines.readers import FILES, HIVE_3, HIVE_4, TRINO, FileReaders, Found, Reader, SqlReader, hive_4
from tests.engines.tables import SPARK, SPARK_4, Table, largest_file
from tests.engines.trino import Trino
from tests.spark.toolbox import Jobs, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: All tables by their names.
TABLES = {**hive_tables.TABLES, **spark_files.TABLES, **python_files.TABLES}
BEFORE, COMPACTED, RESTORED, IN_PART = "before", "compacted", "rolled back", "compacted in part"
#: Of Parquet tables only.
BY_ARROW = "compacted by Arrow"
#: Large files are copied, and small ones rewritten, however few they are.
_IN_PART = ("--strategy", "auto", "--min-small-files", "1", "--min-files-per-gb", "0", "--target-file-size")
#: The warning that ORC's writer has NaN as the bounds of a stripe.
_NAN_STATISTICS = "NAN_STATISTICS"


@dataclass
class Played:
    """What was found in each phase.

    Attributes:
        answers: by phase, reader and table.
        reports: the part of a job's report for each table, by phase.
        files: by phase and table, the visible files with sizes and times.
        backups: the properties of the backup table of each compacted table, as Hive shows them.
    """

    answers: dict[str, Found] = field(default_factory=dict)
    reports: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, dict[str, dict[str, tuple[int, int]]]] = field(default_factory=dict)
    backups: dict[str, dict[str, str]] = field(default_factory=dict)

    def phases(self, table: str) -> list[str]:
        """Return the phases after the first one in which a table was read."""
        later = [phase for phase in self.answers if phase != BEFORE]
        return [phase for phase in later if phase != BY_ARROW or table in self.reports[BY_ARROW]]

    def readers(self, engine: str, table: str) -> list[str]:
        """Return what has read a table for an engine: itself, or each of the readers of files."""
        names = [reader for reader, read in self.answers[BEFORE] if read == table]
        known = (HIVE_3, HIVE_4, TRINO)
        return [name for name in names if (name not in known if engine == FILES else name == engine)]

    def failures(self, reader: str, table: str) -> dict[str, str]:
        """Return the questions on which a reader failed before anything was compacted, with its messages."""
        answers = self.answers[BEFORE][reader, table]
        return {question: answer.error for question, answer in answers.items() if answer.error}

    def differences(self, reader: str, table: str) -> list[str]:
        """Return how the answers of a reader differ from those before; none if all are as they must be."""
        before = self.answers[BEFORE][reader, table]
        found = []
        for phase in self.phases(table):
            warned = self.warns_of_nan(table)
            now = self.answers[phase].get((reader, table), {})
            found += [f"{phase}: {text}" for text in _differences(reader, phase, before, now, warned)]
        return found

    def warns_of_nan(self, table: str) -> bool:
        """Return whether the compaction said that the statistics of the new files have NaN."""
        warnings = self.reports[COMPACTED][table]["warnings"]
        return any(_NAN_STATISTICS in text for text in warnings)

    def fate(self, table: str, phase: str = COMPACTED) -> str:
        """Return `compacted`, or the code of the refusal, or else the outcomes of a table."""
        report = self.reports[phase][table]
        if report["code"] or not report["units"]:
            return str(report["code"] or report["outcome"])
        found = {str(unit["code"] or unit["outcome"]) for unit in report["units"]}
        return ", ".join(sorted(found - {"healthy"} if "compacted" in found else found))


def _differences(reader: str, phase: str, before: Answers, now: Answers, warned: bool) -> Iterator[str]:
    asked = before.keys() & now.keys() if phase == RESTORED else before.keys() | now.keys()
    for question in sorted(asked):
        # A reader of files has no answer where no file has a row.
        old, new = (answers.get(question, NOTHING) for answers in (before, now))
        scanned = now.get(f"{question}{SCANNED}")
        if scanned is None or phase == RESTORED:
            text = difference(old, new)
        else:
            text = _with_nan(reader, phase, old, new, scanned, warned)
        if text:
            yield f"{question}: {text}"


def _with_nan(reader: str, phase: str, old: Answer, new: Answer, scanned: Answer, warned: bool) -> str:
    """Compare the answers to a condition on a column of ORC files that has a NaN.

    ORC's writer takes a NaN that is the first value of a stripe for its minimum and maximum, and a comparison with NaN
    is never true. Hive skips such a stripe, whatever else is in it: before a compaction it answers without rows that
    match. The rows that it does not lose to the statistics are those of a scan, which are compared between the phases
    like any others.

    - Hive 3.1: after the compaction it has each row that it had before, and it has exactly those of a scan.
    - Hive 4.0 skips more than 3.1. A compaction whose files have such statistics warns; then it may have fewer rows
      than a scan, and otherwise it has exactly those.
    - After a compaction in part, some of the original files are still there: it has no row that a scan has not, and
      Hive 3.1 none fewer than before.
    """
    if reader == HIVE_4:
        lenient = warned or phase == IN_PART
        return missing(new, scanned) if lenient else difference(scanned, new)
    lost = missing(old, new)
    return lost or (missing(new, scanned) if phase == IN_PART else difference(scanned, new))


class Play:
    """Writes the tables, and goes through the phases.

    Arguments:
        thorough: there are a compaction by Arrow and one in part too, and each condition is asked in each phase.
            Otherwise, conditions are asked where files have statistics by which an engine skips rows, and not after a
            rollback, whose files are the same ones: `Played.files`.
    """

    def __init__(
        self, spark: SparkSession, root: Path, tables: Sequence[Table], hive: HiveServer, *, thorough: bool
    ) -> None:
        self._spark, self._root, self._tables, self._hive = spark, root, tables, hive
        self._jobs, self._thorough = Jobs(spark, root), thorough

    def write(self) -> None:
        """Write all files, and declare the tables by Hive 3.1."""
        names = [table.name for table in self._tables]
        hive_rows.write(self._root / "src")
        python_files.write(self._root, names)
        spark_files.write(self._spark, spark_files.jobs(self._root, names, SPARK))
        newer = spark_files.jobs(self._root, names, SPARK_4)
        spark_files.write_elsewhere("spark-4.3", newer, self._root.with_name("spark-4.3"))
        self._hive.connect()
        own = [name for name in names if name in hive_tables.TABLES]
        ask_all(self._hive, list(hive_tables.statements(self._root, own)))
        others = [table for table in self._tables if table.name not in own]
        ask_all(self._hive, [each for table in others for each in table.declare(self._root)])

    def play(self, readers: Mapping[str, Reader], asked: Callable[[str, Table], bool]) -> Played:
        """Go through the phases. `asked` says which engine reads which table."""
        played = Played()
        self._read(played, BEFORE, readers, asked)
        played.reports[COMPACTED] = reports = self._job("compact", self._tables)
        backups = {table: report["backup_table"] for table, report in reports.items()}
        played.backups = {table: self._properties(backup) for table, backup in backups.items() if backup}
        self._read(played, COMPACTED, readers, asked)
        compacted = [table for table in self._tables if "compacted" in played.fate(table.name)]
        played.reports[RESTORED] = self._job("rollback", compacted)
        self._read(played, RESTORED, readers, asked)
        if self._thorough:
            self._play_by_arrow(played, readers, asked, compacted)
            played.reports[IN_PART] = self._in_part(compacted)
            self._read(played, IN_PART, readers, asked)
        return played

    def _properties(self, table: str) -> dict[str, str]:
        rows = self._hive.ask(f"SHOW TBLPROPERTIES {qualified(TableName.parse(table))}")
        return {str(row[0]).strip(): str(row[1]).strip() for row in rows}

    def _play_by_arrow(
        self,
        played: Played,
        readers: Mapping[str, Reader],
        asked: Callable[[str, Table], bool],
        compacted: Sequence[Table],
    ) -> None:
        """Compact the tables of Parquet files by Arrow, read them, and roll them back."""
        tables = [table for table in compacted if table.stored == "PARQUET"]
        played.reports[BY_ARROW] = self._job("compact", tables, "--engine", "arrow")
        self._read(played, BY_ARROW, readers, lambda engine, table: table in tables and asked(engine, table))
        self._job("rollback", tables)

    def _in_part(self, tables: Sequence[Table]) -> dict[str, dict[str, Any]]:
        """Each table by a job of its own: the size of its largest file is the target."""
        found: dict[str, dict[str, Any]] = {}
        for table in tables:
            found |= self._job("compact", [table], *_IN_PART, f"{largest_file(table, self._root)}b")
        return found

    def _job(self, verb: str, tables: Sequence[Table], *arguments: str) -> dict[str, dict[str, Any]]:
        if not tables:
            return {}
        names = ",".join(table.qualified for table in tables)
        report = self._jobs(verb, "--tables", names, *arguments)
        if report["error"]:
            raise AssertionError(f"{verb}: {report['error']}")
        return {table["table"].partition(".")[2]: table for table in report["tables"]}

    def _read(
        self, played: Played, phase: str, readers: Mapping[str, Reader], asked: Callable[[str, Table], bool]
    ) -> None:
        played.files[phase] = {table.name: tree(table.folder(self._root)) for table in self._tables}
        found: Found = {}
        for engine, reader in readers.items():
            tables = [table for table in self._tables if asked(engine, table)]
            found |= reader.read(tables, conditions=self._conditions(phase))
        played.answers[phase] = found

    def _conditions(self, phase: str) -> Callable[[Table], bool]:
        if self._thorough:
            return lambda _: True
        return lambda table: table.has_statistics and phase != RESTORED


@contextmanager
def running(
    engines: Sequence[str], hive: HiveServer, metastore: str, root: Path, tables: Sequence[Table]
) -> Iterator[dict[str, Reader]]:
    """The engines of these names, whose servers end with the block. Hive 3.1 runs already, and has the tables."""
    scratch, model = root.parent, SqlReader(HIVE_3, "hive", hive)
    servers: list[HiveServer | Trino] = []
    readers: dict[str, Reader] = {HIVE_3: model}
    try:
        if HIVE_4 in engines:
            servers.append(server := HiveServer("hive4", scratch / "hive4").start())
            known = [table for table in tables if table.of_one_format]
            readers[HIVE_4] = hive_4(server.connect(), root, known)
        if TRINO in engines:
            servers.append(trino := Trino(scratch / "trino", metastore).start())
            readers[TRINO] = SqlReader(TRINO, "trino", trino.connect())
        if FILES in engines:
            readers[FILES] = FileReaders(root, scratch / "by-path", model)
        yield readers
    finally:
        for each in servers:
            each.stop()
