"""A table whose partitions a metastore discovers, and jobs on it that die between their renames.

A job is a real driver. It stops itself when it has done a given number of renames from or to the live directory, and is
killed then. The states are those of the table in docs/design/protocol.md that a kill alone leaves.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.harness.waiting import wait_for
from tests.soak.drivers import Driver, Garage
from tests.soak.journals import left
from tests.soak.tables import add_file

DATABASE = "discovered"
#: The partition that needs a compaction, and one that needs none.
BUSY, QUIET = "busy", "quiet"
SMALL_FILES, ROWS = 4, 10
RUN = "r"
#: What the journal and the directories show after 0, 1 and 2 renames.
STATES = {
    "compact": ("PREPARED, originals live", "PREPARED, gap", "PREPARED, rewritten live"),
    "rollback": (
        "ROLLBACK_PREPARED, rewritten live",
        "ROLLBACK_PREPARED, gap",
        "ROLLBACK_PREPARED, originals live",
    ),
}
GAP = 1
OTHER = {"compact": "rollback", "rollback": "compact"}
#: Discovery looks once a second. On a busy machine a look takes seconds.
PATIENCE = 120
_SENTINEL = "sentinel"


@dataclass
class Seen:
    """What a reader sees: the location of each partition, and how often each row is there, with its partition."""

    locations: dict[str, str]
    rows: Counter[tuple[str, int]]

    def and_rows(self, partition: str, ids: range) -> Seen:
        return Seen(self.locations, self.rows + Counter((partition, number) for number in ids))


class Table:
    """An external table with `discover.partitions`, to which writers add files.

    Arguments:
        driver: runs the statements, and the jobs that live.
        garage: has the drivers that are killed.
    """

    keys = "k STRING"
    properties: Mapping[str, str] = {"discover.partitions": "true", "lakekeeper.writers": "append"}

    def __init__(self, driver: Driver, garage: Garage, folder: Path, name: str) -> None:
        self.name = f"{DATABASE}.{name}"
        self.root = folder / name
        self._staging = folder / "staging"
        self._driver, self._garage = driver, garage
        self._next = 0

    def create(self) -> Table:
        """The metastore is told of no partition: discovery finds them."""
        self._staging.mkdir(parents=True, exist_ok=True)
        for _ in range(SMALL_FILES):
            self.add(BUSY)
        self.add(QUIET)
        properties = ", ".join(f"'{name}'='{value}'" for name, value in self.properties.items())
        self._driver.sql(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE}",
            f"CREATE EXTERNAL TABLE {self.name} (id BIGINT, payload STRING) PARTITIONED BY ({self.keys})"
            f" STORED AS PARQUET LOCATION '{self.root.as_uri()}' TBLPROPERTIES ({properties})",
        )
        self._wait("found both partitions", lambda: self.partitions() == {BUSY, QUIET})
        return self

    def drop(self) -> None:
        """Discovery does not look at it any more."""
        self._driver.sql(f"DROP TABLE IF EXISTS {self.name}")

    def place(self, partition: str) -> Path:
        return self.root / f"k={partition}"

    def spec(self, partition: str) -> str:
        return f"k='{partition}'"

    def add(self, partition: str) -> range:
        """Add a file, as a writer does that creates the directory if there is none. Return the ids of its rows."""
        ids = range(self._next, self._next + ROWS)
        self._next = ids.stop
        add_file(self.place(partition), self._staging, ids)
        return ids

    def partitions(self) -> set[str]:
        rows = self._driver.sql(f"SHOW PARTITIONS {self.name}")[0]
        return {str(row[0]).rpartition("k=")[2] for row in rows}

    def seen(self) -> Seen:
        _, rows = self._driver.sql(f"REFRESH TABLE {self.name}", f"SELECT k, id FROM {self.name}")
        locations = {partition: self._location(partition) for partition in self.partitions()}
        return Seen(locations, Counter((str(partition), int(number)) for partition, number in rows))

    def _location(self, partition: str) -> str:
        rows = self._driver.sql(f"DESCRIBE FORMATTED {self.name} PARTITION ({self.spec(partition)})")[0]
        return next(str(row[1]) for row in rows if row[0] == "Location")

    def wait_for_discovery(self) -> None:
        """Return when a discovery has begun and ended.

        The one that finds the sentinel may have begun before this call. The one that drops it has begun afterwards.
        """
        sentinel = self.place(_SENTINEL)
        sentinel.mkdir(parents=True)
        self._wait("found a new directory", lambda: _SENTINEL in self.partitions())
        shutil.rmtree(self._below_root(sentinel))
        self._wait("dropped the partition of a deleted directory", lambda: _SENTINEL not in self.partitions())

    def _below_root(self, place: Path) -> Path:
        return self.root / place.relative_to(self.root).parts[0]

    def _wait(self, what: str, done: Callable[[], bool]) -> None:
        wait_for(f"discovery to have {what} of {self.name}", done, patience=PATIENCE)

    def job(self, verb: str, run_id: str = RUN) -> list[str]:
        """Run a job to its end, which must be a good one. Return its warnings.

        A compaction with the same run id is that of a task of Airflow that is tried again.
        """
        self._driver.job(verb, self._words(verb, run_id))
        answer = self._driver.answer()
        assert answer["exit_code"] == 0, answer
        return list(answer["report"]["tables"][0]["warnings"])

    def prepare(self, verb: str) -> Seen:
        """Give the job something to do. Return what a reader sees."""
        if verb == "rollback":
            self.job("compact")
            self.wait_for_discovery()
        return self.seen()

    def kill(self, verb: str, renames: int) -> str:
        """Start a job, and kill it with SIGKILL after so many renames. Return the state of its run."""
        victim = self._garage.take()
        victim.job(verb, self._words(verb, RUN), last=True, pause=renames)
        victim.wait_until_paused()
        victim.kill()
        self._garage.warm()
        (run,) = [run for run in left(self.root / ".lakekeeper") if run.intents]
        return str(run)

    def _words(self, verb: str, run_id: str) -> list[str]:
        """Return the arguments of a job. A rollback without a run id takes the newest run back."""
        return ["--table", self.name, *(("--run-id", run_id) if verb == "compact" else ())]


class PurgedTable(Table):
    """A table whose partitions lose their directories when they are dropped, as tables of CDP often do.

    The metastore then also deletes the directory above, if it is empty: here each partition has one of its own.
    """

    keys = "above STRING, k STRING"
    properties: Mapping[str, str] = {**Table.properties, "external.table.purge": "true"}

    def place(self, partition: str) -> Path:
        return self.root / f"above={partition}" / f"k={partition}"

    def spec(self, partition: str) -> str:
        return f"above='{partition}', k='{partition}'"
