"""The soak's own eyes: a soak that misjudges what it sees proves nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.soak.figures import Cycle, Observed, quantile, summary
from tests.soak.journals import Watch, left
from tests.soak.ledger import Ledger
from tests.soak.plan import make_plan
from tests.soak.reader import look
from tests.soak.tables import Writer


def _record(folder: Path, number: int, kind: str, **body: Any) -> None:
    (folder / "journal").mkdir(parents=True, exist_ok=True)
    (folder / "journal" / f"{number:06d}.json").write_text(json.dumps({"kind": kind, **body}))


def _swap(live: Path, original: Path, new: Path) -> dict[str, Any]:
    ids = [f"local:{path.stat().st_dev}:{path.stat().st_ino}" for path in (original, new)]
    return {"spec": [["day", "1"]], "live": f"file:{live}", "live_id": ids[0], "new_id": ids[1]}


@pytest.mark.parametrize(
    ("renames", "state"),
    [
        ([], "PREPARED, originals live"),
        ([("live", "old")], "PREPARED, gap"),
        ([("live", "old"), ("new", "live")], "PREPARED, rewritten live"),
    ],
)
def test_the_state_of_a_killed_run_is_named(
    tmp_path: Path, renames: list[tuple[str, str]], state: str
) -> None:
    live, new = tmp_path / "live", tmp_path / "new"
    live.mkdir()
    new.mkdir()
    home = tmp_path / "home"
    _record(home / "r1.000000000000", 1, "RUN")
    _record(home / "r1.000000000000", 2, "PREPARED", swaps=[_swap(live, live, new)])
    for source, target in renames:
        (tmp_path / source).rename(tmp_path / target)

    (run,) = left(home)

    assert (str(run), run.unfinished) == (state, True)


def test_a_run_that_was_left_is_finished(tmp_path: Path) -> None:
    _record(tmp_path / "r1.000000000000", 1, "RUN")
    _record(tmp_path / "r1.000000000000", 2, "FINISHED")

    assert [run.unfinished for run in left(tmp_path)] == [False]


def test_only_new_records_are_news_also_under_a_new_name(tmp_path: Path) -> None:
    _record(tmp_path / "r1.000000000000", 1, "RUN")
    watch = Watch([tmp_path])
    (tmp_path / "r1.000000000000").rename(tmp_path / "r1.111111111111")
    _record(tmp_path / "r1.111111111111", 2, "ENTERED")

    assert [(event.kind, event.number) for event in watch.news()] == [("ENTERED", 2)]
    assert watch.news() == []


def test_a_ledger_goes_on_where_it_stopped_reading(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    Ledger(ledger.path).add("a", range(3))
    assert ledger.ids() == {"a": {0, 1, 2}}

    Ledger(ledger.path).add("a", range(7, 9))

    assert ledger.ids() == {"a": {0, 1, 2, 7, 8}}


def test_a_reader_sees_what_is_missing_and_what_is_double(tmp_path: Path) -> None:
    place, ledger = tmp_path / "unit", Ledger(tmp_path / "ledger")
    writer = Writer({"unit": place}, tmp_path / "staging", ledger, 0)
    writer.add("unit")
    assert look("unit", place, ledger) == "good"
    (file,) = place.iterdir()

    (place / "copy.parquet").write_bytes(file.read_bytes())
    assert look("unit", place, ledger) == "double"
    (place / "copy.parquet").unlink()
    file.unlink()
    assert look("unit", place, ledger) == "short: rows are missing"
    place.rmdir()
    assert look("unit", place, ledger) == "short: no directory"


def test_the_same_seed_makes_the_same_plans() -> None:
    assert [make_plan("s", n) for n in range(20)] == [make_plan("s", n) for n in range(20)]
    assert {make_plan("s", n).verb for n in range(200)} == {"compact", "rollback", "cleanup"}


def test_a_gap_that_a_kill_cut_open_is_told_from_a_swap() -> None:
    cycle = Cycle(make_plan("s", 1), begun=0.0, states=["PREPARED, gap"], killed=[10.0], recovered=20.0)
    observed = Observed([(11.0, "short: no directory"), (30.0, "good")], [(1.0, 1.01), (9.9, 19.0)])

    text = summary([cycle], observed, Counter(), "s")

    assert "longest 10.0 (1 seen)" in text
    assert "longest 9.1 s (1)" in text
    assert "1 of 2 (no directory 1; 1 of them between a kill and its repair)" in text
    assert "1 of 1 kills, 100 %" in text


def test_quantiles() -> None:
    assert [quantile(range(1, 101), percent) for percent in (0, 50, 99)] == [1, 51, 100]
    assert quantile([], 50) == 0
