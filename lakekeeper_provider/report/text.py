"""The report of a job as a text, for the task log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.options.option import CLEANUP
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import units as report_units
from lakekeeper_provider.report.report import Report, totals, units_with
from lakekeeper_provider.report.units import TABLES_SHOWN, grid, human

_WRITERS_HEADER = ("owner", "file names", "files", "bytes", "newest")

_FINDINGS_SHOWN = 50
_RUNS_SHOWN = 20


def render(report: Report, *, phases: bool = True) -> str:
    """Return the report as a text table for the task log.

    Args:
        phases: how long each phase took stands at its end
    """
    lines = [f"{totals(report)}{_run(report)}", *_tables(report)]
    lines += report_units.lines(report.tables, in_order=report.verb != "analyze", whole=report.verb == "plan")
    lines += _plan_line(report)
    lines += _writer_lines(report.tables)
    lines += [line for table in report.tables for line in _history_lines(table)]
    lines += [*_estimate_line(report), *_finding_lines(report)]
    lines += [*_held_line(report), *_trash_line(report)]
    lines += [*(_phase_line(report) if phases else ()), *_call_line(report)]
    return "\n".join(map(one_line, lines))  # guard: lines_of_the_log


def _tables(report: Report) -> list[str]:
    """Return one line for each table. Those of a database in which a cleanup had nothing to do are counted."""
    cleanup = report.verb == CLEANUP
    several = cleanup and len(report.tables) > 1
    shown = [table for table in report.tables if not (several and _is_quiet(table))]
    quiet = len(report.tables) - len(shown)
    header = (
        "table",
        "outcome",
        *(("files deleted", "bytes deleted") if cleanup else ("files", "bytes")),
        "note",
    )
    rows = [header, *(_row(table, deleted=cleanup) for table in shown)]
    counted = f"{quiet} table{'' if quiet == 1 else 's'} with nothing to delete"
    return [*(report_units.grid(rows) if rows[1:] else ()), *([counted] if quiet else [])]


def _is_quiet(table: Mapping[str, Any]) -> bool:
    return table["outcome"] == "nothing" and not table.get("warnings")


def _run(report: Report) -> str:
    """Return the run of the report, or those of its tables, of which a rollback or a cleanup has several."""
    of_tables = [table["run_id"] for table in report.tables if table.get("run_id")]
    named = [report.run_id] if report.run_id else list(dict.fromkeys(of_tables))
    return f", run {named[0]}" if len(named) == 1 else f", {len(named)} runs" if named else ""


def warnings(report: Report) -> list[str]:
    """Return the warnings of all tables, each with the name of its table and its code."""
    # guard: lines_of_warnings
    return [
        one_line(f"{table['table']}: {text}")
        for table in report.tables
        for text in table.get("warnings") or ()
    ]


def _plan_line(report: Report) -> list[str]:
    """Sum up what a plan would do. The time is known for tables that were compacted before."""
    units = [unit for table in report.tables for unit in units_with(table, ("flagged",))]
    if report.verb != "plan" or not units:
        return []
    files, size = (sum(unit.get(key) or 0 for unit in units) for key in ("files", "bytes"))
    known = [unit["estimated_seconds"] for unit in units if unit.get("estimated_seconds") is not None]
    minutes = f"{sum(known) / 60:.1f} minutes" if known else "time not known before a first compaction"
    some = f" for {len(known)} of them" if 0 < len(known) < len(units) else ""
    return [f"to compact: {len(units)} units, {files} files, {human(size)}, {minutes}{some} (estimate)"]


def _held_line(report: Report) -> list[str]:
    """Say how many bytes of originals the tables keep, which `max_held_bytes` limits."""
    held = sum(table.get("held_bytes") or 0 for table in report.tables)
    shown = f"originals held: {human(held)}; their files count for quotas and the NameNode until a cleanup"
    return [shown] if held and report.verb in ("plan", "compact") else []


def _trash_line(report: Report) -> list[str]:
    """Say what a cleanup has moved to the trash, where it still takes its space."""
    trashed = sum(table.get("trashed_bytes") or 0 for table in report.tables)
    shown = f"moved to the HDFS trash: {human(trashed)}, which is free when the trash is emptied"
    return [f"{shown} (fs.trash.interval)"] if trashed else []


def _estimate_line(report: Report) -> list[str]:
    """Estimate what a compaction spares the NameNode, which has an object for each file and for each of its blocks."""
    saved = sum(_files_saved(table) for table in report.tables if _on_hdfs(table))
    if report.verb not in ("analyze", "plan", "compact") or saved <= 0:
        return []
    return [
        f"estimate: at most {2 * saved} objects less for the NameNode (a file and a block for each of {saved} files),"
        " once a cleanup has deleted the originals"
    ]


def _on_hdfs(table: Mapping[str, Any]) -> bool:
    return str(table.get("location") or "").startswith("hdfs:")


def _files_saved(table: Mapping[str, Any]) -> int:
    """Return how many files less a table has, or by the estimates of its flagged units will have."""
    before, after = ((table.get(when) or {}).get("files") or 0 for when in ("before", "after"))
    return before - after + _files_to_save(table)


def _files_to_save(table: Mapping[str, Any]) -> int:
    """Return how many files less an analysis or a dry run expects.

    Units that are flagged for another reason do not count: an unfinished run, or the dry run of a cleanup.
    """
    flagged = [unit for unit in units_with(table, ("flagged",)) if unit.get("needs_compaction")]
    return sum(unit["files"] - unit["target_files"] for unit in flagged)


def _history_lines(table: Mapping[str, Any]) -> list[str]:
    """Return what was done to a table, newest first; a driver on the cluster prints it where nobody looks."""
    rows = table.get("history") or ()
    if not rows:
        return []
    header = ("at", "what", "run", "who", "partitions", "files", "bytes", "seconds", "rollback")
    shown = [header, *(_history_row(row) for row in rows[:_RUNS_SHOWN])]
    more = len(rows) - _RUNS_SHOWN
    rest = [f"  ... and {more} older in the report"] if more > 0 else []
    return [f"{table['table']}:", *report_units.grid(shown, indent="  "), *rest]


def _history_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    before, after = row["before"], row["after"]
    files, sizes = (
        _change(before["files"], after["files"], str),
        _change(before["bytes"], after["bytes"], human),
    )
    done = (row["at"], row["kind"], row["run_id"], row["who"] or "-", str(row["units"]))
    seconds = "-" if row.get("seconds") is None else f"{row['seconds']:.1f}"
    return (*done, files, sizes, seconds, row["rollback"] or "-")


def _phase_line(report: Report) -> list[str]:
    parts = [f"{phase} {seconds:.1f} s" for phase, seconds in report.phases.items()]
    return [f"phases: {', '.join(parts)}"] if parts else []


def _call_line(report: Report) -> list[str]:
    """Say how often the driver has asked the NameNode. A table on a local disk has none."""
    if not report.namenode_calls:
        return []
    rate = report.namenode_calls_per_second
    average = f", {rate:.1f} per second on average" if rate is not None else ""
    return [f"NameNode calls of the driver: {report.namenode_calls}{average}"]


def _finding_lines(report: Report) -> list[str]:
    """Describe what a check has found, damage first; a driver on the cluster prints it where nobody looks."""
    findings = [(table, finding) for table in report.tables for finding in table.get("findings") or ()]
    findings.sort(key=lambda item: item[1]["severity"] != "damage")
    lines = [_finding_line(table, finding) for table, finding in findings[:_FINDINGS_SHOWN]]
    more = len(findings) - len(lines)
    return [*lines, f"... and {more} more findings in the report"] if more else lines


def _finding_line(table: Mapping[str, Any], finding: Mapping[str, Any]) -> str:
    command = f"; command: {finding['command']}" if finding.get("command") else ""
    return f"{table['table']} {finding['severity']} {finding['code']}: {finding['message']}{command}"


def _row(table: Mapping[str, Any], *, deleted: bool) -> tuple[str, str, str, str, str]:
    # What a cleanup has deleted are originals: the files of the table are others, and there as before.
    before, after = table.get("before") or {}, {} if deleted else table.get("after") or {}
    files = _change(before.get("files"), after.get("files"), str)
    if expected := _files_to_save(table):
        files = f"{before['files']} -> {before['files'] - expected} (estimate)"
    sizes = _change(before.get("bytes"), after.get("bytes"), human)
    backup = f"backup table {table['backup_table']}" if table.get("backup_table") else None
    notes = (table.get("code"), table.get("reason"), *report_units.notes(table), backup)
    note = " ".join(filter(None, notes))
    return table["table"], table["outcome"], files, sizes, note


def _change(before: Any, after: Any, show: Any) -> str:
    shown = [show(value) for value in (before, after) if value is not None]
    return " -> ".join(shown)


def _writer_lines(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return, for each table that has small files, how fast it grows and who has written the newest of them."""
    listed = [table for table in tables if table.get("small_file_writers")]
    shown = [line for table in listed[:TABLES_SHOWN] for line in _writers_of(table)]
    more = len(listed) - TABLES_SHOWN
    return [*shown, f"... the writers of {more} more tables are in the report"] if more > 0 else shown


def _writers_of(table: Mapping[str, Any]) -> list[str]:
    rows = [_WRITERS_HEADER, *map(_writer_row, table["small_file_writers"])]
    listed, units = table.get("listed_units") or 0, len(table.get("units") or ())
    # A report of a compaction by an analysis has fewer units than were listed for it.
    some = f" ({listed} of {units} partitions were listed)" if 0 < listed < units else ""
    return [
        f"{table['table']}: {table.get('files_per_day') or 0:.1f} new files per day in the last 7 days, without our own"
        f"{some}; the newest small files:",
        *grid(rows, indent="  "),
    ]


def _writer_row(writer: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        writer["owner"] or "-",
        writer["pattern"],
        str(writer["files"]),
        human(writer["bytes"]),
        writer["newest"],
    )
