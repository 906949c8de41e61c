"""Other people's jobs. They act on the cluster itself: nothing of theirs is counted or fails by injection."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Spec, TableName
from tests.crash import model_metastore
from tests.crash.model_handle import Handle, open_for_write
from tests.crash.model_metastore import forget_partitions, parquet, register, register_partition
from tests.crash.model_spark import encode_rows, visible_rows
from tests.crash.simulated_cluster import SimulatedCluster


def create_table(
    sim: SimulatedCluster, name: str, root: str, keys: Sequence[str] = (), **properties: str
) -> None:
    """An external Parquet table with one column and STRING partition keys."""
    table = TableName.parse(name)
    sim.metastore.databases.setdefault(table.database, {})
    facts = TableFacts(
        name=str(table),
        kind="EXTERNAL",
        storage=parquet(root),
        provider="hive",
        properties=properties,
        columns=(("id", "bigint"),),
        partition_keys=tuple(keys),
        partition_types=("string",) * len(keys),
    )
    sim.tree.tick()
    register(sim, table, facts)


def spec_of(sim: SimulatedCluster, name: str, values: Sequence[str | None]) -> Spec:
    """Partition values in the order of the table's keys."""
    return tuple(zip(sim.metastore.get(TableName.parse(name)).facts.partition_keys, values, strict=True))


def location_of(sim: SimulatedCluster, name: str, *values: str | None) -> str:
    """Where the metastore says that a table, or this partition of it, lies."""
    table = sim.metastore.get(TableName.parse(name))
    return table.partitions[spec_of(sim, name, values)] if values else table.facts.storage.location


def add_partition(sim: SimulatedCluster, name: str, *values: str, location: str | None = None) -> str:
    """Returns the location; the metastore makes a directory that is missing."""
    spec = spec_of(sim, name, values)
    root = location_of(sim, name)
    place = location or "/".join([root, *(f"{key}={value}" for key, value in spec)])
    sim.tree.tick()
    register_partition(sim, TableName.parse(name), spec, place)
    return place


def drop_partition(sim: SimulatedCluster, name: str, *values: str, delete_data: bool = False) -> None:
    """Its rows are given up on purpose, whether or not the files go too."""
    place = location_of(sim, name, *values)
    sim.tree.tick()
    sim.ledger.overwritten.update(visible_rows(sim.tree, place))
    forget_partitions(sim, TableName.parse(name), [spec_of(sim, name, values)])
    if delete_data:
        sim.tree.remove(place, recursive=True)


def msck(sim: SimulatedCluster, name: str, sync: bool = False) -> None:
    """MSCK REPAIR TABLE, or with `sync` what `discover.partitions` does by itself."""
    model_metastore.msck(sim, TableName.parse(name), sync)


def file_name(ids: Sequence[int], kind: str = "w") -> str:
    """Ids are never used twice, so that neither is a name made of them."""
    return f"part-{kind}{ids[0]:06d}-c000.snappy.parquet"


def append(sim: SimulatedCluster, location: str, ids: Sequence[int]) -> str:
    """A file that is there at once, whole; returns its name. A missing directory is made, as by every writer."""
    sim.tree.tick()
    sim.tree.write(f"{location}/{file_name(ids)}", encode_rows(ids), parents=True)
    sim.ledger.committed.update(ids)
    return file_name(ids)


class OpenAppend:
    """A stream: its rows are committed when `close` has succeeded, wherever its file is by then."""

    def __init__(self, sim: SimulatedCluster, ids: Sequence[int], handle: Handle) -> None:
        self._sim = sim
        self._ids = ids
        self._handle = handle

    def on(self, sim: SimulatedCluster) -> OpenAppend:
        """The same writer in a copy of the cluster."""
        return OpenAppend(sim, self._ids, self._handle.on(sim.tree))

    def flush(self) -> None:
        """What was written so far becomes visible as bytes; without its footer no reader can use it."""
        self._handle.hflush()

    def close(self) -> bool:
        """False where somebody deleted the file: the writer fails, and has committed nothing."""
        try:
            self._handle.close()
        except FileNotFoundError:
            return False
        self._sim.ledger.committed.update(self._ids)
        return True


def open_append(sim: SimulatedCluster, location: str, ids: Sequence[int]) -> OpenAppend:
    handle = open_for_write(sim.tree, f"{location}/{file_name(ids, 's')}")
    handle.write(encode_rows(ids))
    return OpenAppend(sim, ids, handle)


class StagedAppend:
    """A Spark job with the v1 committer: its task writes below `_temporary`, the driver renames at the end."""

    def __init__(self, sim: SimulatedCluster, location: str, ids: Sequence[int]) -> None:
        self._sim = sim
        self._location = location
        self._ids = ids
        self._published = False

    def on(self, sim: SimulatedCluster) -> StagedAppend:
        """The same writer in a copy of the cluster."""
        twin = StagedAppend(sim, self._location, self._ids)
        twin._published = self._published
        return twin

    @property
    def _staged(self) -> str:
        return f"{self._location}/_temporary/0/task_0/{file_name(self._ids)}"

    def stage(self) -> None:
        """Brings the directory back where it was renamed away."""
        self._sim.tree.tick()
        self._sim.tree.write(self._staged, encode_rows(self._ids), parents=True)

    def publish(self) -> bool:
        """False where the staged file is not where it was: the job fails."""
        self._sim.tree.tick()
        target = f"{self._location}/{file_name(self._ids)}"
        self._published = self._sim.tree.raw_rename(self._staged, target)
        return self._published

    def finish(self) -> bool:
        """Removes the staging folder; only now, and only after a publication, the job has succeeded."""
        self._sim.tree.tick()
        self._sim.tree.remove(f"{self._location}/_temporary", recursive=True)
        if self._published:
            self._sim.ledger.committed.update(self._ids)
        return self._published


def staged_append(sim: SimulatedCluster, location: str, ids: Sequence[int]) -> StagedAppend:
    """Not begun yet: call `stage`, `publish` and `finish`, with whatever is to happen in between."""
    return StagedAppend(sim, location, ids)


def overwrite_by_recreation(sim: SimulatedCluster, location: str, ids: Sequence[int]) -> None:
    """INSERT OVERWRITE as Spark does it: the directory goes and comes back as another one."""
    _give_up(sim, location)
    sim.tree.remove(location, recursive=True)
    append(sim, location, ids)


def overwrite_in_place(sim: SimulatedCluster, location: str, ids: Sequence[int]) -> None:
    """INSERT OVERWRITE as Hive does it: the directory stays the same, its files go."""
    _give_up(sim, location)
    for name, _ in sim.tree.files(location):
        sim.tree.remove(f"{location}/{name}")
    append(sim, location, ids)


def _give_up(sim: SimulatedCluster, location: str) -> None:
    sim.tree.tick()
    sim.ledger.overwritten.update(visible_rows(sim.tree, location))
