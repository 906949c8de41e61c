"""Real drivers that meet on one table: one was stopped while another took its place; two start at the same time."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.soak.drivers import Driver, Garage
from tests.soak.journals import Left, left
from tests.soak.ledger import Ledger
from tests.soak.tables import DATABASE, EVENTS, Writer, create, home, read

DAYS = 8
FILES = 2


@dataclass(frozen=True)
class Stage:
    """A table of small files, a driver that lives through all tests, and where to get more of them."""

    garage: Garage
    driver: Driver
    units: dict[str, Path]
    writer: Writer
    ledger: Ledger

    @property
    def home(self) -> Path:
        return home(self.units, EVENTS)

    def fill(self) -> None:
        for unit in self.events:
            for _ in range(FILES):
                self.writer.add(unit)

    @property
    def events(self) -> dict[str, Path]:
        return {unit: place for unit, place in self.units.items() if unit != "flat"}

    def ids(self) -> dict[str, Counter[int]]:
        return {unit: read(place) for unit, place in self.events.items()}

    def committed(self) -> dict[str, Counter[int]]:
        return {unit: Counter(self.ledger.ids()[unit]) for unit in self.events}

    def files(self) -> dict[str, tuple[int, int]]:
        """Everything below the root, hidden or not: (size, mtime) of each file, and every folder."""
        found = {}
        for folder, _, names in os.walk(self.home.parent):
            found[folder] = (0, 0)
            for path in (Path(folder, name) for name in names):
                found[str(path)] = (path.stat().st_size, path.stat().st_mtime_ns)
        return found

    def tables(self) -> list[str]:
        return [row[1] for row in self.driver.sql(f"SHOW TABLES IN {DATABASE}")[0]]

    def discover(self) -> None:
        """What `discover.partitions` does in the metastore by itself."""
        self.driver.sql(f"MSCK REPAIR TABLE {EVENTS} SYNC PARTITIONS")

    def partitions(self) -> list[str]:
        return [row[0].rpartition("=")[2] for row in self.driver.sql(f"SHOW PARTITIONS {EVENTS}")[0]]

    def rows(self) -> Counter[int]:
        """What a query of the table returns."""
        *_, found = self.driver.sql(f"REFRESH TABLE {EVENTS}", f"SELECT id FROM {EVENTS}")
        return Counter(row[0] for row in found)

    def runs(self) -> dict[str, Left]:
        return {run.run_id: run for run in left(self.home)}


@pytest.fixture(scope="module")
def stage(spark_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("soak")
    garage = Garage(folder, spark_environ)
    try:
        driver = garage.start()
        garage.warm()
        units = create(driver.ready(), folder / "warehouse", DAYS)
        ledger = Ledger(folder / "ledger")
        yield Stage(garage, driver, units, Writer(units, folder / "staging", ledger, 0), ledger)
    finally:
        garage.close()


def _words(run_id: str) -> list[str]:
    return ["--table", EVENTS, "--run-id", run_id]


def _pause_between_renames(stage: Stage, driver: Driver) -> None:
    driver.job("compact", _words("paused"), last=True, pause=1)
    driver.wait_until_paused()
    assert not all(place.exists() for place in stage.events.values())


def test_a_driver_that_was_paused_while_another_took_over_fails_and_changes_nothing(stage: Stage) -> None:
    stage.fill()
    paused = stage.garage.take()
    _pause_between_renames(stage, paused)
    assert "PREPARED" in stage.runs()["paused"].intents

    stage.driver.job("compact", _words("paused"))
    taken_over = stage.driver.answer()
    assert taken_over["exit_code"] == 0, taken_over
    assert not stage.runs()["paused"].unfinished
    assert stage.ids() == stage.committed()
    files, tables = stage.files(), stage.tables()

    paused.resume()

    assert paused.end() != 0
    assert stage.files() == files
    assert stage.tables() == tables
    assert stage.ids() == stage.committed()


def _killed_between_renames(stage: Stage, run_id: str) -> str:
    """Kill a driver between the renames of a partition, and let discovery drop that partition. Return its value."""
    stage.fill()
    victim = stage.garage.take()
    victim.job("compact", _words(run_id), last=True, pause=1)
    victim.wait_until_paused()
    (away,) = [unit for unit, place in stage.events.items() if not place.exists()]
    victim.kill()
    stage.discover()
    day = away.rpartition("=")[2]
    assert day not in stage.partitions()
    return day


def _compact(stage: Stage, run_id: str) -> list[str]:
    """Compact, and return the warnings."""
    stage.driver.job("compact", _words(run_id))
    answer = stage.driver.answer()
    assert answer["exit_code"] == 0, answer
    return list(answer["report"]["tables"][0]["warnings"])


def test_rows_of_a_partition_that_discovery_drops_after_a_kill_are_found_by_the_next_discovery(
    stage: Stage,
) -> None:
    day = _killed_between_renames(stage, "dropped")
    warnings = _compact(stage, "after-dropped")
    stage.discover()
    assert len(stage.partitions()) == DAYS
    assert stage.rows() == sum(stage.committed().values(), Counter())
    assert any(text.startswith(f"PARTITION_UNREGISTERED: day={day}: ") for text in warnings), warnings
    assert [text for text in _compact(stage, "after-found") if "PARTITION" in text] == []
    assert stage.rows() == sum(stage.committed().values(), Counter())


@pytest.mark.full
def test_without_the_rewritten_directory_the_commands_of_the_warning_bring_the_rows_back(
    stage: Stage,
) -> None:
    day = _killed_between_renames(stage, "without")
    (rewritten,) = stage.home.glob(f"without.*/__compact_tmp_*/day={day}")
    shutil.rmtree(rewritten)
    warnings = _compact(stage, "after-without")
    (text,) = [text for text in warnings if text.startswith("PARTITION_UNREGISTERED")]
    statement = re.search(r"ALTER TABLE \S+ ADD PARTITION \(.*?\) LOCATION '\S+'", text)
    assert statement, text
    stage.driver.sql(statement[0])
    stage.events[f"events/day={day}"].rmdir()
    stage.driver.job("rollback", ["--table", EVENTS, "--run-id", "without"])
    stage.driver.answer()
    assert stage.rows() == sum(stage.committed().values(), Counter())


@pytest.mark.full
def test_a_partition_that_was_dropped_and_added_again_is_told(stage: Stage) -> None:
    """By the time at which the metastore has made it, which the journal has."""
    day = _killed_between_renames(stage, "readded")
    stage.driver.sql(f"ALTER TABLE {EVENTS} ADD PARTITION (day='{day}')")
    warnings = _compact(stage, "after-readded")
    assert any(text.startswith(f"PARTITION_READDED: day={day}: ") for text in warnings), warnings
    assert stage.rows() == sum(stage.committed().values(), Counter())


def test_of_two_compactions_at_once_one_works_and_the_other_has_nothing_to_do(stage: Stage) -> None:
    stage.fill()
    other = stage.garage.take()
    stage.driver.job("compact", _words("one"))
    other.job("compact", _words("two"), last=True)

    reports = [driver.answer()["report"]["tables"][0] for driver in (stage.driver, other)]

    assert sorted(_outcome(report) for report in reports) == ["done", "nothing"], reports
    assert len(stage.runs().keys() & {"one", "two"}) == 1
    assert not any(run.unfinished for run in stage.runs().values())
    assert [len(list(place.glob("*.parquet"))) for place in stage.events.values()] == [1] * DAYS
    assert stage.ids() == stage.committed()


def _outcome(report: dict[str, Any]) -> str:
    """Somebody who was kept waiting for too long has not worked either, and says who did."""
    busy = report["outcome"] == "busy" and "another job works" in report["reason"]
    return "nothing" if busy else str(report["outcome"])
