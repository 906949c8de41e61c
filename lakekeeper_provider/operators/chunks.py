"""Divide what analyses have flagged, so that several tasks compact it: by table, or into parts of the same size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators import xcom
from lakekeeper_provider.report import pages
from lakekeeper_provider.report import summary as report_summary

Summary = dict[str, Any]


def by_table(analysis: Any, *, ti: Any = None) -> list[Summary]:
    """Return the flagged tables, one in each summary, in the order of their compaction, for ``CompactOperator.expand``.

    Tables with units that were deferred before come first, the longest first; then those with the highest score. A
    table of several analyses is in one summary: two tasks cannot work on it at the same time.

    Args:
        analysis: the output of an ``AnalyzeOperator``, a list of such outputs, or the report of a plan
        ti: the task instance that is running: units that do not fit into its XCom are pushed under further keys

    Raises:
        UsageError: ``analysis`` is something else
    """
    return _fitting(list(_merged(_tables(analysis), xcom.UnitReader(ti))), ti)


def split(analysis: Any, chunks: int, *, within_tables: bool = False, ti: Any = None) -> list[list[Summary]]:
    """Return the flagged units in up to ``chunks`` parts of about the same size, for ``CompactOperator.expand``.

    The size is the bytes of the files, or the number of units if bytes are not known. The same analysis gives the
    same parts. A table is in one part only, so that the parts can be compacted side by side.

    Args:
        analysis: the output of an ``AnalyzeOperator``, a list of such outputs, or the report of a plan
        within_tables: divide the units of a table too. Two tasks cannot work on one table at the same time, so such
            parts must run one after the other (``max_active_tis_per_dagrun=1``). They are in the order of compaction,
            and the units of one table count as equal in size
        ti: the task instance that is running: it pulls units from pages, and pushes those that do not fit into its
            XCom under further keys

    Raises:
        UsageError: ``analysis`` or ``chunks`` is something else, or units cannot be read
    """
    if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1:
        raise UsageError(f"chunks: expected a whole number from 1 on, got {chunks!r}")
    found, reader = _tables(analysis), xcom.UnitReader(ti)
    sizes = _sizes(found, reader)
    parts = _cut(found, sizes, chunks, reader) if within_tables else _packed(found, sizes, chunks)
    rest = iter(_fitting([summary for part in parts for summary in part], ti))
    return [[next(rest) for _ in part] for part in parts]


def _tables(analysis: Any) -> list[Summary]:
    pairs = xcom.in_order(xcom.analyses(analysis))
    return [{**found, "tables": [table]} for found, table in pairs if xcom.has_flagged_units(table)]


def _merged(summaries: Sequence[Summary], reader: xcom.UnitReader) -> Iterator[Summary]:
    """Return one summary for each table, at the place of its first one, with the units of all of them."""
    of_tables: dict[str, list[Summary]] = {}
    for summary in summaries:
        of_tables.setdefault(_name(summary), []).append(summary)
    for first, *others in of_tables.values():
        if not others:
            yield first
            continue
        units = [unit for each in (first, *others) for unit in reader.units(each, each["tables"][0])]
        distinct = {tuple(sorted(unit.items())): unit for unit in units}
        [table] = first["tables"]
        kept = report_summary.without(table, "fingerprints")
        yield _piece({**first, "tables": [kept]}, list(distinct.values()), 0)


def _fitting(summaries: list[Summary], ti: Any) -> list[Summary]:
    """Return the summaries, as they fit into one XCom.

    First they lose the fingerprints of a plan, without which a compaction does not say what has changed since; then
    their units are moved to pages of the task.
    """
    if report_summary.size(summaries) <= pages.XCOM_LIMIT:
        return summaries
    summaries = [
        {**s, "tables": [report_summary.without(table, "fingerprints") for table in s["tables"]]}
        for s in summaries
    ]
    if ti is None or report_summary.size(summaries) <= pages.XCOM_LIMIT:
        return summaries
    return [{**s, "tables": report_summary.outline(s["tables"])} for s in pages.move(summaries, ti)]


def _sizes(summaries: Sequence[Summary], reader: xcom.UnitReader) -> list[float]:
    """Return the bytes of each table, or the number of its units if the bytes of any table are not known."""
    known = [summary["tables"][0].get("flagged_bytes") for summary in summaries]
    return known if all(known) else [_count(summary, reader) for summary in summaries]


def _count(summary: Summary, reader: xcom.UnitReader) -> int:
    [table] = summary["tables"]
    if "flagged_at" in table:
        first, after = table["flagged_at"]
        return int(after - first)
    return len(reader.units(summary, table))


def _packed(summaries: Sequence[Summary], sizes: Sequence[float], chunks: int) -> list[list[Summary]]:
    """Return whole tables in parts: the largest table first, each into the part that is the smallest so far."""
    places: dict[str, list[int]] = {}
    for place, summary in enumerate(summaries):
        places.setdefault(_name(summary), []).append(place)
    weights = {name: sum(sizes[place] for place in of_table) for name, of_table in places.items()}
    parts: list[list[int]] = [[] for _ in range(chunks)]
    totals = [0.0] * chunks
    for name in sorted(places, key=lambda name: (-weights[name], name)):
        smallest = totals.index(min(totals))
        parts[smallest] += places[name]
        totals[smallest] += weights[name]
    # The part with the most urgent table first: mapped tasks start in this order.
    return [[summaries[place] for place in part] for part in sorted(map(sorted, parts)) if part]


def _cut(
    summaries: Sequence[Summary], sizes: Sequence[float], chunks: int, reader: xcom.UnitReader
) -> list[list[Summary]]:
    """Return the units in parts, in the order of the tables; a table may be in several parts."""
    parts: list[list[Summary]] = [[] for _ in range(chunks)]
    total, before = sum(sizes), 0.0
    for summary, size in zip(summaries, sizes, strict=True):
        units = reader.units(summary, summary["tables"][0])
        middles = [before + size * (n + 0.5) / len(units) for n in range(len(units))]
        done = 0
        numbers = [min(chunks - 1, int(middle * chunks / total)) for middle in middles]
        for number, of_part in groupby(zip(numbers, units, strict=True), key=lambda pair: pair[0]):
            some = [unit for _, unit in of_part]
            piece = summary if len(some) == len(units) else _piece(summary, some, done)
            done += len(some)
            # Parts of the same tables differ in this, and so in their run ids.
            parts[number].append({**piece, "part": f"{number + 1}/{chunks}"})
        before += size
    return [part for part in parts if part]


def _piece(summary: Summary, units: list[pages.Unit], start: int) -> Summary:
    """Return some units of a table, from the position ``start`` on, as a summary that has them itself."""
    [table] = summary["tables"]
    kept = report_summary.without(table, "flagged_at", "flagged_bytes", "flagged_files")
    if "fingerprints" in kept:
        kept["fingerprints"] = kept["fingerprints"][start : start + len(units)]
    head = report_summary.without(summary, "flagged_in")
    return {**head, "report": None, "tables": [{**kept, "flagged": units}]}


def _name(summary: Mapping[str, Any]) -> str:
    return str(summary["tables"][0]["table"])
