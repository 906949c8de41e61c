"""What each page shows, as values for its template."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, COMPACT, ROLLBACK
from lakekeeper_provider.page import figures, listing
from lakekeeper_provider.page.figures import Figures, Row
from lakekeeper_provider.page.follower import Snapshot
from lakekeeper_provider.page.listing import Wanted
from lakekeeper_provider.page.observations import Observation, Source, Stored, number
from lakekeeper_provider.page.tables import View

#: So many combinations of rights are kept summed up.
_KEPT = 8
_LOOKED = ("done", "nothing")


@dataclass(frozen=True)
class Seen:
    """What somebody sees of all tables."""

    rows: Sequence[Row]
    figures: Figures
    night: Mapping[str, Any] | None


class Cache:
    """Keeps what was summed up for users of the same rights, until something new is observed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[frozenset[str], tuple[tuple[int, int, int], Seen]] = OrderedDict()
        self._lock = Lock()

    def seen(self, snapshot: Snapshot, dags: frozenset[str], now: float) -> Seen:
        """Return what users see who may read these DAGs."""
        state = (id(snapshot.tables), snapshot.tables.version, int(now // figures.DAY))
        with self._lock:
            kept = self._kept.get(dags)
            if kept is None or kept[0] != state:
                kept = (state, _seen(snapshot, dags, now))
            self._kept[dags] = kept
            self._kept.move_to_end(dags)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return kept[1]


def _seen(snapshot: Snapshot, dags: frozenset[str], now: float) -> Seen:
    with snapshot.tables.lock:
        rows = [figures.row(view) for view in snapshot.tables.views(dags)]
    return Seen(rows, figures.figures(rows, now), _last_night(rows))


def _last_night(rows: Iterable[Row]) -> Mapping[str, Any] | None:
    """Return the newest DAG run that has compacted, and what became of its tables."""
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.attempted is not None:
            source = row.attempted.source
            runs.setdefault((source.dag_id, source.run_id), []).append(row)
    if not runs:
        return None
    (dag_id, run_id), found = max(runs.items(), key=lambda item: max(_at(row) for row in item[1]))
    records = [row.attempted.record for row in found if row.attempted is not None]
    outcomes = _outcomes(records)
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "at": max(map(_at, found)),
        "tables": sum(bool(each.get("rewritten")) for each in records),
        "compacted": outcomes["compacted"],
        "deferred": outcomes["deferred"] + outcomes["changed"],
        "failed": outcomes["failed"] + outcomes["quarantined"],
    }


def _at(row: Row) -> float:
    return row.attempted.at if row.attempted is not None else 0.0


def _outcomes(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for record in records:
        told = record.get("outcomes")
        found.update({str(k): int(number(n)) for k, n in told.items()} if isinstance(told, dict) else {})
    return found


def tables(seen: Seen, wanted: Wanted) -> dict[str, Any]:
    """Return the values of the list of tables."""
    return {
        "listing": listing.listing(seen.rows, wanted),
        "wanted": wanted,
        "figures": seen.figures,
        "night": seen.night,
        "databases": sorted({row.database for row in seen.rows}),
        "outcomes": sorted({row.outcome for row in seen.rows}),
        "codes": sorted({code for row in seen.rows for code in row.codes}),
    }


def table(view: View, found: Sequence[Stored]) -> dict[str, Any]:
    """Return the values of the page of one table.

    Args:
        found: the events that have it
    """
    runs = [
        seen
        for seen in _observed(found)
        if seen.record["table"] == view.name and seen.stored.server == view.server
    ]
    points = [point for point in view.points() if point.files == point.files]
    analysed, looked = view.newest(ANALYZE), view.newest(ANALYZE, COMPACT)
    names = {seen.stored.number: seen.run_id or "" for seen in runs}
    return {
        "row": figures.row(view),
        "looked": looked.record if looked else {},
        "analysed": analysed.record if analysed else {},
        "runs": [_run(seen) for seen in reversed(runs)],
        "plot": {
            "at": [round(point.at) for point in points],
            "files": [point.files for point in points],
            "bytes": [point.bytes for point in points],
            "marks": [[point.letter, names.get(point.number, "")] for point in points],
        },
    }


def _observed(found: Iterable[Stored]) -> list[Observation]:
    """Return what these pages of records say, as far as this version can read it."""
    return [each for page in found if page.is_known for each in page.observations()]


def _run(seen: Observation) -> dict[str, Any]:
    return {
        "at": seen.stored.at,
        "verb": seen.verb,
        "run_id": seen.run_id,
        "source": seen.stored.source,
        "server": seen.stored.server,
        "record": seen.record,
    }


def run(
    dag_id: str, run_id: str, found: Sequence[Stored], states: Sequence[tuple[str, int, Any, Any]]
) -> dict[str, Any]:
    """Return the values of the page of one DAG run.

    Args:
        states: task, map index, name and state of each task instance
    """
    seen = _observed(found)
    # A retry, or a task that was cleared, replaces what it has seen before.
    newest = {
        (each.verb, each.stored.server, each.record["table"], each.stored.source, each.run_id): each
        for each in seen
    }
    compactions = [each for (verb, *_), each in newest.items() if verb == COMPACT]
    undone = {each.record["table"] for (verb, *_), each in newest.items() if verb == ROLLBACK}
    failed = [
        (task, index, name) for task, index, name, state in states if state in ("failed", "upstream_failed")
    ]
    analysed = [each for (verb, *_), each in newest.items() if verb == ANALYZE]
    worked = {each.record["table"] for each in compactions}
    others = [each for each in analysed if each.record["table"] not in worked]
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "done": [_run(each) for each in compactions if each.record.get("rewritten")],
        "left": [_run(each) for each in (*compactions, *others) if _is_left(each)],
        "undone": undone,
        "failed": failed,
        "skipped": sum(state == "skipped" for *_, state in states),
        "running": sum(state in ("running", "queued", "scheduled", "deferred") for *_, state in states),
        "analysed": len(analysed),
        "healthy": sum(
            each.record["outcome"] in _LOOKED and not each.record.get("flagged") for each in analysed
        ),
        "held": sum(each.number("held_bytes") for each in compactions),
        "outcomes": _outcomes(each.record for each in compactions),
        "ended": max((each.at for each in found), default=None),
    }


def _is_left(seen: Observation) -> bool:
    record = seen.record
    return record["outcome"] not in ("done", "nothing") or bool(record.get("left"))


def task(dag_id: str, run_id: str, task_id: str, map_index: int, found: Sequence[Stored]) -> dict[str, Any]:
    """Return the values of the page of one task instance."""
    last = found[-1] if found else None
    pages = [each for each in found if last and each.extra.get("ended") == last.extra.get("ended")]
    return {
        "source": Source(dag_id, run_id, task_id, map_index),
        "extra": last.extra if last else {},
        "records": [seen.record for seen in _observed(pages)],
        "at": last.at if last else None,
    }
