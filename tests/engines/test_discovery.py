"""Jobs are killed between their renames, and a metastore of Hive 4 discovers partitions, before the next job and after.

The partitions, their locations and their rows are then those of before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.engines.discovery import BUSY, GAP, OTHER, QUIET, SMALL_FILES, STATES, PurgedTable, Table
from tests.soak.drivers import Driver, Garage

pytestmark = pytest.mark.full

VERBS = tuple(STATES)
#: What a person is told of a partition that is gone, or that discovery has added again by the end of the job.
_TOLD = ("PARTITION_UNREGISTERED: k=busy: ", "PARTITION_READDED: k=busy: ")


@dataclass(frozen=True)
class Stage:
    """A driver that lives through all tests, where to get more of them, and a name for each table."""

    driver: Driver
    garage: Garage
    folder: Path
    numbers: Iterator[int]

    def table(self, kind: type[Table]) -> Table:
        return kind(self.driver, self.garage, self.folder / "tables", f"t{next(self.numbers)}")


@pytest.fixture(scope="module")
def stage(hive4_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("discovery")
    garage = Garage(folder, hive4_environ)
    try:
        driver = garage.start().ready()
        garage.warm()
        yield Stage(driver, garage, folder, count())
    finally:
        garage.close()


@pytest.fixture
def table(stage: Stage) -> Iterator[Table]:
    table = stage.table(Table)
    yield table.create()
    table.drop()


@pytest.fixture
def purged(stage: Stage) -> Iterator[Table]:
    table = stage.table(PurgedTable)
    yield table.create()
    table.drop()


@pytest.mark.parametrize("renames", range(3))
@pytest.mark.parametrize("verb", VERBS)
def test_all_is_as_before_when_the_job_is_tried_again(table: Table, verb: str, renames: int) -> None:
    before = table.prepare(verb)
    assert table.kill(verb, renames) == STATES[verb][renames]
    table.wait_for_discovery()
    assert table.partitions() == ({QUIET} if renames == GAP else {BUSY, QUIET})

    warnings = table.job(verb)
    table.wait_for_discovery()

    assert table.seen() == before
    # If discovery has added the partition before the job asks for it, the job compacts it as any other.
    assert renames != GAP or any("k=busy: " in text for text in warnings), warnings


@pytest.mark.parametrize("verb", VERBS)
def test_all_is_as_before_when_another_job_is_the_next(table: Table, verb: str) -> None:
    before = table.prepare(verb)
    assert table.kill(verb, GAP) == STATES[verb][GAP]
    table.wait_for_discovery()
    assert table.partitions() == {QUIET}

    warnings = table.job(OTHER[verb], run_id="next")
    table.wait_for_discovery()

    assert table.seen() == before
    assert any(text.startswith(_TOLD) for text in warnings), warnings


@pytest.mark.parametrize("verb", VERBS)
def test_all_is_as_before_when_the_next_job_dies_too(table: Table, verb: str) -> None:
    """After its first rename: the originals are back in their place, and no record says so yet."""
    before = table.prepare(verb)
    table.kill(verb, GAP)
    table.wait_for_discovery()
    assert table.partitions() == {QUIET}
    assert table.kill(verb, 1).endswith("originals live")
    table.wait_for_discovery()
    assert table.partitions() == {BUSY, QUIET}

    table.job(verb)
    table.wait_for_discovery()

    assert table.seen() == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_writer_that_creates_the_directory_again_adds_its_rows(table: Table, verb: str) -> None:
    """Discovery has dropped the partition, and adds it again with the rows of the writer only."""
    before = table.prepare(verb)
    table.kill(verb, GAP)
    table.wait_for_discovery()
    assert table.partitions() == {QUIET}
    added = table.add(BUSY)
    table.wait_for_discovery()
    assert table.partitions() == {BUSY, QUIET}

    table.job(verb)
    table.wait_for_discovery()

    assert table.seen() == before.and_rows(BUSY, added)


@pytest.mark.parametrize("verb", VERBS)
def test_all_is_as_before_where_a_drop_deletes_directories(purged: Table, verb: str) -> None:
    """Discovery drops the partition with the directory above the one that is away."""
    before = purged.prepare(verb)
    assert purged.kill(verb, GAP) == STATES[verb][GAP]
    purged.wait_for_discovery()
    assert purged.partitions() == {QUIET}

    purged.job(verb)
    purged.wait_for_discovery()

    assert purged.seen() == before


def test_a_compaction_and_its_rollback_change_no_partition(table: Table) -> None:
    """Nothing dies: discovery does not take the hidden home for partitions."""
    before = table.seen()
    for verb, files in (("compact", 1), ("rollback", SMALL_FILES)):
        table.job(verb)
        table.wait_for_discovery()
        assert table.seen() == before
        assert len(list(table.place(BUSY).glob("*.parquet"))) == files
