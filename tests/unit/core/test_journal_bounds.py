"""What a journal may name: anybody who may write a table's root can plant one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import Record, RunState, state_after
from spark_jobs.core.records.journal_bounds import ClosingRecord, check_units, within
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.model import FileEntry, FileListing
from tests.unit.core.run_record import run_body

ROOT = "hdfs://nn/warehouse/t"
HOME = f"{ROOT}/.lakekeeper"
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FILES = FileListing.of([FileEntry("part-0.parquet", 7, 1, 16400)])


def swap(tail: str = "d=1", live: str = "", **changes: Any) -> Swap:
    made = Swap(
        spec=(("d", "1"),),
        live=live or f"{ROOT}/{tail}",
        new=f"__compact_tmp_1772323200/{tail}",
        old=f"__originals_1772323200/{tail}",
        aside=f"__aside_1772323200/{tail}",
        conflict=f"__conflict_1772323200/{tail}",
        live_id="hdfs:16390",
        new_id="hdfs:16391",
        originals=FILES,
        compacted=FILES,
        rows=3,
    )
    return replace(made, **changes)


def check(planted: Swap, home: str = HOME, homes: Any = ()) -> RunState:
    run = Record(journal.RUN, NOW, run_body(homes=list(homes), location=ROOT))
    prepared = Record(journal.PREPARED, NOW, {"swaps": [planted.to_json()]})
    state = state_after([run, prepared])
    assert state is not None
    return within(state, home)


@pytest.mark.parametrize(
    ("home", "planted"),
    [
        (HOME, swap()),
        (HOME, swap("d=1/h=2")),
        (HOME, swap("d=__originals_1/h=a b%2Fc")),
        (HOME, swap(live="hdfs://another-name:8020/warehouse/t/d=1")),
        ("hdfs://nn/warehouse/.lakekeeper-t", swap("t", live=ROOT)),
        ("file:/data/t/.lakekeeper", swap(live="file:///data/t/d=1")),
    ],
)
def test_what_a_home_serves_is_in_bounds(home: str, planted: Swap) -> None:
    check(planted, home, [home])


@pytest.mark.parametrize(
    "changes",
    [
        {"old": "../../../../finance/ledger/d=1"},
        {"old": "/finance/ledger/d=1"},
        {"old": "hdfs://nn/finance/ledger/d=1"},
        {"old": "__originals_1772323200/../../../d=1"},
        {"old": "__originals_1772323200/d=2"},
        {"old": "__originals_1772323200"},
        {"old": "__originals_1772323200/"},
        {"old": "__originals_x/d=1"},
        {"old": "__aside_1772323200/d=1"},
        {"new": "journal/d=1"},
        {"aside": "__aside_1772323200//d=1"},
        {"conflict": "__conflict_1772323200/./d=1"},
        {"live": "hdfs://nn/finance/ledger/d=2"},
        {"live": f"{ROOT}/d=2"},
        {"live": f"{ROOT}/xd=1"},
        {"live": ROOT},
        {"originals": FileListing.of([FileEntry("../../d=2/part-0", 7, 1, 16400)])},
        {"compacted": FileListing.of([FileEntry("", 7, 1, 16400)])},
        {"compacted": FileListing.of([FileEntry("..", 7, 1, 16400)])},
        {"live_id": 16390},
        {"rows": "3"},
        {"new": None},
    ],
)
def test_nothing_else_is(changes: dict[str, Any]) -> None:
    with pytest.raises(Unsafe, match="nothing is changed"):
        check(swap(**changes))


@pytest.mark.parametrize(
    "live",
    [
        "hdfs://nn/finance/ledger/d=1",
        "hdfs://nn/warehouse/before/d=1",
        f"{ROOT}/x/../d=1",
        f"{HOME}/d=1",
        "hdfs://other/warehouse/t/d=1",
        "/warehouse/t/d=1",
    ],
)
def test_where_a_unit_lies_is_told_by_its_home_alone(live: str) -> None:
    """So a table that was moved, or whose NameNode got another name, has its runs still; and no journal leads to a
    directory of another table."""
    (unit,) = check(swap(live=live)).units.values()
    assert unit.swap.live == f"{ROOT}/d=1"


def test_homes_are_on_the_server_that_this_one_is_on_now() -> None:
    before = [
        "hdfs://old-name/warehouse/t/.lakekeeper",
        "hdfs://old-name/x/.lakekeeper-d=2",
        "hdfs://third/.lakekeeper-y",
    ]
    now = (HOME, "hdfs://nn/x/.lakekeeper-d=2", "hdfs://third/.lakekeeper-y")
    assert check(swap(), homes=before).homes == now
    last = Record(journal.FINISHED, NOW, {"has_open_intent": False, "homes": before, "home_id": "hdfs:7"})
    assert ClosingRecord.of(last, HOME) == ClosingRecord(HOME, False, now, "hdfs:7")


@pytest.mark.parametrize(
    "body",
    [
        {"homes": [HOME]},
        {"has_open_intent": False},
        {"has_open_intent": "no", "homes": [HOME]},
        {"has_open_intent": False, "homes": HOME},
        {"has_open_intent": False, "homes": [7]},
        {"has_open_intent": False, "homes": ["hdfs://nn/finance"]},
    ],
)
def test_the_last_record_of_a_visit_says_what_it_must(body: dict[str, Any]) -> None:
    with pytest.raises(Unsafe, match="nothing is changed"):
        ClosingRecord.of(Record(journal.LEFT, NOW, body), HOME)


@pytest.mark.parametrize("tail", [".lakekeeper/r.0123456789ab/__originals_1/d=1", "..", ".", "a/../b"])
def test_no_home_serves_another_one_or_what_lies_above_it(tail: str) -> None:
    with pytest.raises(Unsafe, match="not the paths of a unit of this home"):
        check(swap(tail))


def test_the_home_of_one_directory_serves_no_other() -> None:
    """The directory, and its home with it, may have had another name; identities tell whether it is the same one."""
    home = "hdfs://nn/warehouse/.lakekeeper-t"
    (unit,) = check(swap("u", live="hdfs://nn/warehouse/u"), home).units.values()
    assert unit.swap.live == "hdfs://nn/warehouse/t"
    with pytest.raises(Unsafe, match="not the paths of a unit of this home"):
        check(swap("u/v", live="hdfs://nn/warehouse/u/v"), home)


@pytest.mark.parametrize(
    "planted", ["hdfs://nn/finance", "/warehouse/t/.lakekeeper", "hdfs://nn/x/../.lakekeeper", 7, None]
)
def test_the_other_homes_of_a_run_are_homes(planted: object) -> None:
    with pytest.raises(Unsafe, match="not the path of a home"):
        check(swap(), homes=[planted])


@pytest.mark.parametrize(
    "body",
    [
        {"swaps": [{}]},
        {"swaps": 7},
        {"swaps": ["x"]},
        {},
        {"swaps": [{**swap().to_json(), "more": 1}]},
        {"swaps": [{**swap().to_json(), "originals": [{"name": 1, "length": 1, "mtime": 1}]}]},
        {"swaps": [{**swap().to_json(), "originals": [{"name": "a", "length": "1", "mtime": 1}]}]},
        {"swaps": [{**swap().to_json(), "spec": "d=1"}]},
    ],
)
def test_a_record_that_does_not_say_what_it_must_is_no_record(body: dict[str, Any]) -> None:
    run = Record(journal.RUN, NOW, run_body())
    with pytest.raises(Unsafe, match="PREPARED cannot be read"):
        state_after([run, Record(journal.PREPARED, NOW, body)])


@pytest.mark.parametrize(
    "tail", ["d=1/h=2", "D=1/H=a b%2Fc", "d=__HIVE_DEFAULT_PARTITION__/h=", "custom/place"]
)
def test_partitions_are_units_also_after_they_were_dropped(tail: str) -> None:
    check_units(check(swap(tail)), ROOT, ("d", "h"), [f"{ROOT}/custom/place"])


@pytest.mark.parametrize("tail", ["d=1", "d=1/h=2/x=3", "h=1/d=2", "d=1/archive", "archive/h=1"])
def test_other_folders_below_the_root_are_none(tail: str) -> None:
    with pytest.raises(Unsafe, match=f"{ROOT}/{tail}, which is not a partition of this table"):
        check_units(check(swap(tail)), ROOT, ("d", "h"), [])
