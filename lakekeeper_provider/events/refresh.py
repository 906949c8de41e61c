"""Tell other engines that the files of a table were swapped: they cache the lists of files.

The compaction is done by then. So nothing here fails a task: what an engine could not be told becomes a warning with
the statement to run by hand.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from string import Formatter
from typing import Any

import tenacity

from lakekeeper_provider.events.refresh_names import (
    impala_literal,
    impala_name,
    may_be_pasted,
    plain_name,
    standard_literal,
)
from lakekeeper_provider.exceptions import UsageError, nearest
from lakekeeper_provider.options.parsers import (
    boolean,
    choice,
    duration,
    from_json,
    given,
    integer,
    seconds,
    text,
    wrong,
)
from lakekeeper_provider.report.report import SWAPPED, Report, units_with

ENGINES = ("impala", "trino", "sql")
CODE = "REFRESH_FAILED"
#: With more partitions, one statement for the table is quicker than one for each of them.
_PARTITIONS = 100
_NUMBERS = ("tinyint", "smallint", "int", "integer", "bigint")
_NUMBER = re.compile(r"-?\d+\Z")
_TEXTS = ("string", "char", "varchar")

#: Formats of tables that have commits of their own.
_NATIVE = ("iceberg", "paimon")
#: What the statement of a user may name.
_FIELDS = frozenset({"table", "database", "name"})

Run = Callable[[str], object]
Connect = Callable[[str], Run]
Masked = Callable[[str], str]


class NoAnswer(Exception):
    """A statement has not returned within its time. It is not tried again: it may still be at work."""


@dataclass(frozen=True)
class Refresh:
    """Statements for one engine, run through an Airflow connection after a compaction or a rollback.

    Args:
        conn_id: the connection; its provider must be installed, such as apache-airflow-providers-apache-impala
        engine: ``impala`` (``REFRESH``), ``trino`` (``flush_metadata_cache``) or ``sql``
        partitions: Impala: one statement for each partition, up to 100 of them, else one for the table
        invalidate: Impala: ``INVALIDATE METADATA`` in place of ``REFRESH``
        catalog: Trino: the catalog of the Hive tables
        statement: sql: the statement; ``{table}`` is ``db.name``, ``{database}`` and ``{name}`` are its parts
        attempts: how often a statement is tried
        timeout: how long an attempt may take, such as ``2m``
    """

    conn_id: str
    engine: str = "impala"
    partitions: bool = False
    invalidate: bool = False
    catalog: str = "hive"
    statement: str | None = None
    attempts: int = 3
    timeout: str = "60s"

    def __post_init__(self) -> None:
        text("refresh.conn_id", self.conn_id)
        choice(*ENGINES)("refresh.engine", self.engine)
        for name in ("partitions", "invalidate"):
            object.__setattr__(self, name, boolean(f"refresh.{name}", getattr(self, name)))
        object.__setattr__(self, "attempts", integer(1)("refresh.attempts", self.attempts))
        duration("60s")("refresh.timeout", self.timeout)
        if (self.statement is not None) != (self.engine == "sql"):
            raise UsageError("refresh: give statement with the engine sql, and only with it")
        if self.statement is not None:
            _filled(self.statement, "db.table")

    @classmethod
    def all_of(cls, value: Any) -> list[Refresh]:
        """Accept a list of refreshes, or of mappings with their fields, or one of either; JSON too."""
        value = from_json("refresh", given(value))
        found = [value] if isinstance(value, (Mapping, cls)) else value or []
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise wrong("refresh", value, "a list such as [{'conn_id': 'impala_default'}]")
        return [each if isinstance(each, cls) else cls._of(each) for each in found]

    @classmethod
    def _of(cls, value: Any) -> Refresh:
        if not isinstance(value, Mapping) or "conn_id" not in value:
            raise wrong("refresh", value, "a mapping with conn_id, engine, ...")
        known = [each.name for each in fields(cls)]
        for key in value:
            if key not in known:
                raise UsageError(f"unknown key refresh.{key}{nearest(key, known)}")
        return cls(**value)

    def statements(self, table: Mapping[str, Any]) -> list[str]:
        """Return the statements for a table of a report."""
        name = table["table"]
        if self.engine == "sql":
            return [_filled(str(self.statement), ".".join(map(plain_name, name.split(".", 1))))]
        if self.engine == "trino":
            database, _, short = name.partition(".")
            arguments = (
                f"schema_name => {standard_literal(database)}, table_name => {standard_literal(short)}"
            )
            return [f"CALL {self.catalog}.system.flush_metadata_cache({arguments})"]
        quoted = ".".join(map(impala_name, name.split(".", 1)))
        if self.invalidate:
            return [f"INVALIDATE METADATA {quoted}"]
        specs = _specs(table) if self.partitions and not _is_native(table) else None
        if specs is None:
            return [f"REFRESH {quoted}"]
        return [f"REFRESH {quoted} PARTITION ({spec})" for spec in specs]


def refresh(
    refreshes: Sequence[Refresh],
    report: Report,
    connect: Connect,
    *,
    again: bool = False,
    masked: Masked = str,
) -> Report:
    """Run the statements for each table that has swapped units, and return the report with a warning for each failure.

    After a failure, the other statements of this engine are not tried: a server that never answers would hold the task
    for hours.

    Args:
        connect: returns for a connection what runs a statement on it
        again: an earlier try of the task may have swapped units, and ended before the engines were told: then its
            units are settled, and not in this report. So all its tables are refreshed, which changes nothing otherwise
        masked: hides the secrets of connections in a text: an error of a driver may show how it was reached, and a
            warning is kept where no log masks it
    """
    touched = [table for table in report.tables if units_with(table, SWAPPED) or (again and _could_be(table))]
    warnings: dict[str, list[str]] = {table["table"]: [] for table in touched}
    for each in refreshes:
        for name, warning in _run(each, touched, connect):
            warnings[name].append(masked(warning))
    tables = tuple(
        {**table, "warnings": [*(table.get("warnings") or ()), *warnings.get(table["table"], ())]}
        for table in report.tables
    )
    return replace(report, tables=tables)


def _is_native(table: Mapping[str, Any]) -> bool:
    """Tell whether a table is one of a format with commits: what engines know of its partitions is the format's."""
    return table.get("format") in _NATIVE


def _could_be(table: Mapping[str, Any]) -> bool:
    """Tell whether a job has worked on a table, so that an earlier one may have swapped its files."""
    return table["outcome"] not in ("refused", "busy")


def _run(each: Refresh, tables: Sequence[Mapping[str, Any]], connect: Connect) -> Iterator[tuple[str, str]]:
    """Run the statements of one engine. Yield the tables whose statement failed, with warnings."""
    problem: str | None = None
    # An engine may not know the format of a table, and after a failure it is told of no other one.
    for table in sorted(tables, key=_is_native):
        try:
            statements = each.statements(table)
        except Exception as error:  # a report of another version of the jobs
            what = f"{each.conn_id} was not told that the files of {table['table']} were swapped: {error!r}"
            yield table["table"], f"{CODE}: {what}. Refresh the table there"
            continue
        for statement in statements:
            if problem is None:
                problem = _problem(each, statement, connect)
            if problem is not None:
                what = (
                    f"{each.conn_id} was not told that the files of {table['table']} were swapped: {problem}"
                )
                yield table["table"], f"{CODE}: {what}. {_by_hand(each, statement)}"


def _by_hand(each: Refresh, statement: str) -> str:
    """Tell a person what to run there. The statement of a user has plain names only."""
    if each.engine != "sql" and not may_be_pasted(statement):  # guard: statements_to_paste
        why = "shells for SQL act on a name or a value in it"
        return f"Refresh the table there (no statement is shown, because {why})"
    return f"Run there: {statement}"


def _problem(each: Refresh, statement: str, connect: Connect) -> str | None:
    """Run a statement, several times if it fails; return the last error."""
    attempts = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(each.attempts),
        wait=tenacity.wait_exponential(max=10),
        retry=tenacity.retry_if_not_exception_type(NoAnswer),
        reraise=True,
    )
    try:
        attempts(_within, seconds(each.timeout), lambda: connect(each.conn_id)(statement))
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return None


def _within(limit: float, act: Callable[[], object]) -> None:
    """Call a function; an error is raised here.

    Raises:
        NoAnswer: it has not returned within the limit. It goes on in its thread, which does not keep the
            process alive.
    """
    errors: list[Exception] = []

    def run() -> None:
        try:
            act()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    if thread.is_alive():
        raise NoAnswer(f"no answer within {limit:g} s")
    if errors:
        raise errors[0]


def _specs(table: Mapping[str, Any]) -> list[str] | None:
    """Return the specs of the swapped partitions in Impala's SQL; None if the whole table is to be refreshed."""
    units = units_with(table, SWAPPED)
    types = table.get("partition_types") or {}
    if not 0 < len(units) <= _PARTITIONS or not all(unit["unit"] for unit in units):
        return None
    specs = [[_pair(key, value, types.get(key, "")) for key, value in unit["unit"].items()] for unit in units]
    if any(pair is None for spec in specs for pair in spec):
        return None
    return [", ".join(pair for pair in spec if pair) for spec in specs]


def _pair(key: str, value: str | None, declared: str) -> str | None:
    """Return `key=value` as a literal of the key's type, which Impala does not convert; None for another type."""
    kind = declared.lower().partition("(")[0]
    if value is None:
        return f"{impala_name(key)}=NULL"
    if kind in _TEXTS:
        return f"{impala_name(key)}={impala_literal(value)}"
    if kind in _NUMBERS and _NUMBER.match(value):  # guard: numbers_are_numbers
        return f"{impala_name(key)}={int(value)}"
    return None


def _filled(statement: str, table: str) -> str:
    database, _, name = table.partition(".")
    try:
        named = {field for _, field, _, _ in Formatter().parse(statement) if field is not None}
        if not named <= _FIELDS:  # guard: fields_of_statements
            raise ValueError(f"it names {', '.join(sorted(named - _FIELDS)) or 'a field without a name'}")
        return statement.format(table=table, database=database, name=name)
    except ValueError as error:
        raise UsageError(
            f"refresh.statement: {statement!r} may name {{table}}, {{database}} and {{name}} only: {error}"
        ) from None
