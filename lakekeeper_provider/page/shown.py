"""What each page shows, as values for its template."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.page import figures, listing, on_demand
from lakekeeper_provider.page.figures import Figures, Row
from lakekeeper_provider.page.follower import Snapshot
from lakekeeper_provider.page.listing import Wanted
from lakekeeper_provider.page.night import Night, last_night, outcomes
from lakekeeper_provider.page.observations import Observation, Source, Stored
from lakekeeper_provider.page.records import number
from lakekeeper_provider.page.tables import View
from lakekeeper_provider.page.tracks import HELD, SWAPPED, WHOLE
from lakekeeper_provider.page.trends import DAY

#: So many combinations of rights are kept summed up.
_KEPT = 4
#: For so many times as long as it took.
_KEPT_FOR = 10
_LOOKED = ("done", "nothing")


@dataclass(frozen=True)
class Seen:
    """What somebody sees of all tables."""

    rows: Sequence[Row]
    figures: Figures
    night: Night | None
    since: float | None


@dataclass(frozen=True)
class _Kept:
    """What was summed up.

    Args:
        tables: of which tables, and on which day
        version: theirs at that time
        until: it may be shown for so long although there is a newer version, by the monotonic clock
    """

    tables: tuple[int, int]
    version: int
    until: float
    seen: Seen

    def may_be_shown(self, tables: tuple[int, int], version: int) -> bool:
        return self.tables == tables and (self.version == version or time.monotonic() < self.until)


class Cache:
    """Keeps what was summed up for users of the same rights, until something new is observed.

    What took long is kept for longer, or thousands of tables would be summed up for each request while jobs run.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[frozenset[str], _Kept] = OrderedDict()
        self._lock = Lock()

    def seen(self, snapshot: Snapshot, dags: frozenset[str], now: float) -> Seen:
        """Return what users see who may read these DAGs."""
        tables, version = (id(snapshot.tables), int(now // DAY)), snapshot.tables.version
        with self._lock:
            kept = self._kept.pop(dags, None)
            if kept is None or not kept.may_be_shown(tables, version):
                began = time.monotonic()
                seen = _seen(snapshot, dags, now)
                took = time.monotonic() - began
                kept = _Kept(tables, version, began + took + _KEPT_FOR * took, seen)
            self._kept[dags] = kept
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return kept.seen


def _seen(snapshot: Snapshot, dags: frozenset[str], now: float) -> Seen:
    with snapshot.tables.lock:
        views = list(snapshot.tables.views(dags))
        since = min((view.since for view in views), default=None)
        return Seen(*figures.of_all(views, now), last_night(views, on_demand.dag_id()), since)


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


def runs_of(view: View, found: Sequence[Stored]) -> list[Observation]:
    """Return what events and XComs say of a table, in their order."""
    return [seen for seen in _observed(found) if (seen.stored.server, seen.table) == (view.server, view.name)]


def table(view: View, runs: Sequence[Observation]) -> dict[str, Any]:
    """Return the values of the page of one table.

    Args:
        runs: what the jobs have told of it
    """
    points = [point for point in view.points() if point.files == point.files]
    analysed, looked = view.newest(WHOLE), view.newest(ANALYZE, COMPACT)
    swapped = view.newest(SWAPPED)
    is_newer = swapped is not None and analysed is not None and swapped.at > analysed.at
    names = {(seen.stored.number, seen.stored.at): seen.run_id or "" for seen in runs}
    return {
        "row": figures.row(view, time.time()),
        "looked": looked.record if looked else {},
        "analysed": analysed.record if analysed else {},
        "analysed_at": analysed.at if analysed else None,
        "compacted_since": is_newer,
        "runs": [_run(seen) for seen in reversed(runs)],
        "plot": {
            "at": [round(point.at) for point in points],
            "files": [point.files for point in points],
            "bytes": [point.bytes for point in points],
            "marks": [[point.letter, names.get((point.number, point.at), "")] for point in points],
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
    dag_id: str,
    run_id: str,
    found: Sequence[Stored],
    states: Sequence[tuple[str, int, Any, Any]],
    view_of: Callable[[str, str], View | None],
) -> dict[str, Any]:
    """Return the values of the page of one DAG run.

    Args:
        states: task, map index, name and state of each task instance
        view_of: returns a table of a Hive server, as far as the user may see it
    """
    seen = _observed(found)
    # A retry, or a task that was cleared, replaces what it has seen before.
    newest = {
        (each.verb, each.stored.server, each.table, each.stored.source, each.run_id): each for each in seen
    }
    compactions = [each for (verb, *_), each in newest.items() if verb == COMPACT]
    rollbacks = [each for (verb, *_), each in newest.items() if verb == ROLLBACK and each.rewritten]
    failed = [
        (task, index, name) for task, index, name, state in states if state in ("failed", "upstream_failed")
    ]
    analysed = [each for (verb, *_), each in newest.items() if verb == ANALYZE]
    worked = {(each.stored.server, each.table) for each in compactions}
    others = [each for each in analysed if (each.stored.server, each.table) not in worked]
    also = [each for (verb, *_), each in newest.items() if verb in (ROLLBACK, CLEANUP)]
    first = {(each.stored.server, each.table): each for each in reversed(analysed)}
    done = [each for each in compactions if each.rewritten]
    undone = {id(each) for each in done if _is_undone(each, rollbacks, view_of)}
    compacted = {(each.stored.server, each.table) for each in done}
    told = _newest_of_held(newest.values())
    return {
        "dag_id": dag_id,
        "run_id": run_id,
        "done": [{**_run(each), "undone": id(each) in undone} for each in done],
        "tables": len(compacted),
        "left": [_run(each) for each in (*compactions, *others) if _is_left(each)],
        "failed": failed,
        "rollback": next((task for task, *_ in states if task.rpartition(".")[2] == ROLLBACK), None),
        "skipped": sum(state == "skipped" for *_, state in states),
        "running": sum(state in ("running", "queued", "scheduled", "deferred") for *_, state in states),
        "also": [_run(each) for each in (*also, *(() if compactions or also else first.values()))],
        "analysed": len(first),
        "healthy": sum(
            each.record["outcome"] in _LOOKED and not each.record.get("flagged") for each in first.values()
        ),
        "held": sum(_held_bytes(told.get(table), view_of(*table)) for table in compacted),
        "outcomes": outcomes(each.record for each in compactions),
        "ended": max((each.at for each in found), default=None),
    }


def _is_undone(
    seen: Observation, rollbacks: Iterable[Observation], view_of: Callable[[str, str], View | None]
) -> bool:
    """Tell whether a compaction was rolled back since: by its own DAG run, or by a DAG that the user may read."""
    table = seen.stored.server, seen.table
    here = [each.stored.at for each in rollbacks if (each.stored.server, each.table) == table]
    view = view_of(*table)
    return max([*here, *([view.undone_at(seen)] if view else [])], default=seen.stored.at) > seen.stored.at


def _newest_of_held(found: Iterable[Observation]) -> dict[tuple[str, str], Observation]:
    """Return, by table, what the newest job says that has looked at what is held."""
    told = (each for each in found if each.figure("held_bytes") is not None)
    return {(each.stored.server, each.table): each for each in sorted(told, key=lambda each: each.stored.at)}


def _held_bytes(here: Observation | None, view: View | None) -> float:
    """Return the bytes of all originals of a table, as the newest job says: of the DAG run, or one since.

    Args:
        here: what the DAG run says, which may have ended just now, and not be in the view
        view: the table by the jobs that the user may know of
    """
    since = view.newest(HELD) if view else None
    if here is None or (since and since.at >= here.stored.at):
        return number(since.record.get("held_bytes")) if since else 0
    return here.number("held_bytes")


def _is_left(seen: Observation) -> bool:
    record = seen.record
    return record["outcome"] not in ("done", "nothing") or bool(record.get("left"))


def task(
    dag_id: str, run_id: str, task_id: str, map_index: int, found: Sequence[Stored], state: Any
) -> dict[str, Any]:
    """Return the values of the page of one task instance."""
    last = found[-1] if found else None
    pages = [each for each in found if last and each.extra.get("ended") == last.extra.get("ended")]
    return {
        "source": Source(dag_id, run_id, task_id, map_index),
        "extra": last.extra if last else {},
        "server": last.server if last else None,
        "state": state,
        "records": [seen.record for seen in _observed(pages)],
        "at": last.at if last else None,
    }
