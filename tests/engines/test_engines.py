"""Other engines read the same rows before and after a compaction, after its rollback, by Arrow, and after one in part.

Each engine is asked for all rows, and for those of one condition on each column of a primitive type: by a condition,
engines skip what the statistics, indexes and Bloom filters of the files exclude. A table is compacted, or refused with
a code, and then no file of it is another one.

The default set reads a third of the tables with Hive 3.1. `make test-all` reads all of them with Hive 3.1 and 4.0,
Trino and the readers of files. What was found is left for docs/safety/read-by-engines.md (`shown.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from demo.services import environments
from demo.services.metastore import Metastore
from tests.engines import shown
from tests.engines.hive import HiveServer
from tests.engines.metastore3 import metastore3
from tests.engines.play import BEFORE, BY_ARROW, IN_PART, RESTORED, TABLES, Play, Played, running
from tests.engines.readers import FILES, HIVE_3, HIVE_4, TRINO
from tests.engines.tables import SPARK_4, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Tables that are refused, and the code. All others are compacted.
REFUSED = {
    "o_union": "TYPE",
    "a_parquet": "UNKNOWN_INT96_WRITER",
    "h_parquet_int96": "UNKNOWN_INT96_WRITER",
    "h_rcfile": "SERDE",
    "h_orc_positional": "POSITIONAL",
    "h_parquet_by_index": "POSITIONAL",
    "s_orc_col_mixed": "POSITIONAL",
}
#: Tables of which some partitions are refused.
REFUSED_IN_PART = {"h_formats": "SERDE, compacted"}
_ENUM = "its enum is no union with null"
_RANGE = "a time of it is out of the reader's range"
_INT96 = "an INT96 timestamp of it is out of the reader's range"
_CLICKHOUSE = "ClickHouse (chdb)"
#: Tables that a reader fails to read before anything was compacted, by reader and table, and why.
UNREADABLE: dict[tuple[str, str], str] = {
    (HIVE_3, "f_avro"): _ENUM,
    (HIVE_3, "s_parquet_decimals"): "decimals of 4 and 8 bytes: UnsupportedOperationException",
    (HIVE_3, "s_parquet_widened"): "a file has other types than the table: UnsupportedOperationException",
    (HIVE_3, "s_parquet_micros"): "a timestamp of 8 bytes: ClassCastException",
    (HIVE_3, "a_parquet_times"): "a timestamp of 8 bytes: ClassCastException",
    (HIVE_3, "s4_orc"): "Unknown compression: Spark 4 writes ORC with zstd",
    (HIVE_4, "f_avro"): _ENUM,
    (TRINO, "f_avro"): _ENUM,
    (TRINO, "h_keys"): "Invalid partition value 'zzzzz' for char(4) partition key",
    (TRINO, "s_parquet_widened"): "a file has other types than the table: UnsupportedOperationException",
    **{(reader, "s_orc_ancient"): _RANGE for reader in ("pyarrow", "pyorc", _CLICKHOUSE)},
    **{(reader, "s_parquet_julian"): _RANGE for reader in ("pyarrow", "polars", "DataFusion", _CLICKHOUSE)},
    ("pyarrow", "h_orc"): _RANGE,
    **{
        (_CLICKHOUSE, name): "a CHAR(5) whose characters have more than 5 bytes"
        for name in ("h_orc", "h_orc_bloom")
    },
    **{(_CLICKHOUSE, name): _INT96 for name in ("h_parquet_int96", "s_parquet_gregorian")},
}
#: Tables that are declared as read by name (`lakekeeper.readers`), by the engines that read their files by position.
BY_POSITION = {(HIVE_4, "s_orc_by_name"), (TRINO, "s_orc_by_name")}
#: Of a compaction in part, tables with nothing to do: three files of one size in each partition.
OF_ONE_SIZE = ("h_keys",)

#: Parquet tables that Spark writes, although Arrow was to, and why.
NOT_BY_ARROW = {
    **dict.fromkeys(("s_parquet", "s4_parquet", "s_parquet_julian", "s_parquet_gregorian"), "INT96"),
    **dict.fromkeys(("s_parquet_evolved", "s_parquet_reordered", "h_parquet_evolved"), "several schemas"),
    "h_parquet": "NaN",
    "s_parquet_legacy": "INT96, and lists in the legacy format",
    "s_parquet_bloom": "Bloom filters",
    "s_parquet_widened": "several types",
    "a_parquet_times": "a calendar that is not noted",
}

ENGINES = (HIVE_3, HIVE_4, TRINO, FILES)
#: What the readers of files know.
_OF_FILES = ("PARQUET", "ORC", "AVRO")


def _reads(engine: str, table: Table) -> bool:
    """Tell whether an engine is asked about a table. A directory does not say which format a partition has."""
    if engine == FILES:
        return table.stored in _OF_FILES and table.of_one_format
    return table.of_one_format or engine != HIVE_4


def _marks(default: bool) -> tuple[pytest.MarkDecorator, ...]:
    return () if default else (pytest.mark.full,)


CASES = [
    pytest.param(engine, name, id=f"{engine}-{name}", marks=_marks(table.default and engine == HIVE_3))
    for engine in ENGINES
    for name, table in TABLES.items()
    if _reads(engine, table)
]
NAMES = [pytest.param(name, id=name, marks=_marks(table.default)) for name, table in TABLES.items()]
_NOT_WHOLE = {*REFUSED, *REFUSED_IN_PART}
PARQUET_NAMES = [
    name for name, table in TABLES.items() if table.stored == "PARQUET" and name not in _NOT_WHOLE
]
IN_PART_NAMES = [name for name, table in TABLES.items() if table.has_statistics and name not in _NOT_WHOLE]


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A metastore of Hive 3.1: the older one of the other suites does not serve Hive 3.1's own client."""
    with metastore3(tmp_path_factory.mktemp("metastore")) as started:
        yield started


@pytest.fixture(scope="session")
def hive(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveServer]:
    """Hive 3.1, which starts while other things do: who uses it connects first."""
    server = HiveServer("hive3", tmp_path_factory.mktemp("hive3"), metastore.uri).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def played(
    hive: HiveServer,
    metastore: Metastore,
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Played:
    """Only the engines and tables that are asked for: `-k` chooses."""
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    chosen = {each["table"] for each in params if each.get("table") in TABLES}
    pairs = {(each["engine"], each["table"]) for each in params if each.get("engine") in ENGINES}
    tables = [table for name, table in TABLES.items() if name in chosen and not unwritten(table)]
    root = tmp_path_factory.mktemp("engines") / "tables"
    thorough = request.config.getoption("--test-set") == "all"
    play = Play(spark, root, tables, hive, thorough=thorough)
    play.write()
    with running([engine for engine, _ in pairs], hive, metastore.uri, root, tables) as readers:
        found = play.play(readers, lambda engine, table: (engine, table.name) in pairs)
    shown.leave(found, sorted(pairs))
    return found


def unwritten(table: Table) -> str | None:
    """Return why nobody here writes the files of a table: the machine cannot run its Spark."""
    lacks = environments.lacks("spark-4.3") if table.writer == SPARK_4 else None
    return lacks and f"spark-4.3 needs {lacks}"


@pytest.fixture
def written(request: pytest.FixtureRequest) -> Table:
    """The table of a test."""
    table = TABLES[request.node.callspec.params["table"]]
    if why := unwritten(table):
        pytest.skip(why)
    return table


@pytest.mark.parametrize(("engine", "table"), CASES)
def test_the_rows_are_the_same(played: Played, written: Table, engine: str, table: str) -> None:
    readers = played.readers(engine, table)
    assert readers
    found = {reader: played.differences(reader, table) for reader in readers}
    wrong = {
        reader: texts for reader, texts in found.items() if bool(texts) != ((reader, table) in BY_POSITION)
    }
    assert wrong == {}


@pytest.mark.parametrize(("engine", "table"), CASES)
def test_an_engine_reads_what_it_is_known_to_read(
    played: Played, written: Table, engine: str, table: str
) -> None:
    for reader in played.readers(engine, table):
        failures = played.failures(reader, table)
        assert bool(failures) == ((reader, table) in UNREADABLE), failures


@pytest.mark.parametrize("table", NAMES)
def test_a_table_is_compacted_or_refused(played: Played, written: Table, table: str) -> None:
    files = {phase: found[table] for phase, found in played.files.items()}
    expected = {**REFUSED, **REFUSED_IN_PART}.get(table, "compacted")
    assert played.fate(table) == expected, played.reports["compacted"][table]
    assert (files["compacted"] == files[BEFORE]) == (table in REFUSED)
    assert files[RESTORED] == files[BEFORE]


def test_the_metastore_counts_no_originals_for_a_backup_table(played: Played) -> None:
    """The figures of a table without partitions show that it has listed all files, and held them in memory."""
    assert played.backups
    for properties in played.backups.values():
        assert properties["external.table.purge"] == "false"
        assert not {"numFiles", "totalSize", "DO_NOT_UPDATE_STATS"} & properties.keys(), properties


@pytest.mark.full
@pytest.mark.parametrize("table", PARQUET_NAMES)
def test_arrow_writes_what_it_can_keep(played: Played, written: Table, table: str) -> None:
    units = played.reports[BY_ARROW][table]["units"]
    found = {unit.get("engine") or "spark" for unit in units if unit["outcome"] == "compacted"}
    assert found == {"spark" if table in NOT_BY_ARROW else "arrow"}, units


@pytest.mark.full
@pytest.mark.parametrize("table", IN_PART_NAMES)
def test_a_compaction_in_part_leaves_the_large_files(played: Played, written: Table, table: str) -> None:
    units = played.reports[IN_PART][table]["units"]
    if table in OF_ONE_SIZE:
        assert {unit["outcome"] for unit in units} == {"healthy"}, units
    else:
        assert {(unit["outcome"], unit["strategy"]) for unit in units} == {("compacted", "minor")}, units
