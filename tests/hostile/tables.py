"""Tables whose names, values, docs, properties, comments, files and records are the texts of the corpus.

They are made by a session that has no secret, as another tool has made them. So whatever a secret is found in later, a
job has put it there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spark_jobs.core.options.definitions import OPTIONS
from spark_jobs.core.options.layers import PROPERTY_PREFIX
from tests.hostile.corpus import HADOOP_PROPERTY, LONG, NAME, ODD, PATHS, PATTERNS, TEXTS, VALUES, VARIABLES
from tests.spark.metastore_client import metastore_client, recreate
from tests.spark.toolbox import literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Tables with a partition for each text, by the format that they are stored as.
PARTITIONED = ("textfile", "parquet", "avro", "sequencefile", "orc")
#: So many tables of which a record will be changed.
RECORDS = tuple(f"record{number}" for number in range(16))
#: With texts as directories and files, as options, as records, and as the type of a column.
OTHERS = ("placed", "options", "planted", "unreadable")
#: It is compacted, and dropped then.
GONE = "gone"
TABLES = (*PARTITIONED, *OTHERS, *RECORDS, GONE)
#: Texts that a metastore takes as the value of a property.
_PROPERTIES = [text for text in TEXTS if text not in (*ODD, LONG)]
#: Names of directories and files. Hadoop has no names with a colon, and a slash ends a name.
_NAMES = [text for text in (*VARIABLES, *PATHS, *PATTERNS) if not {":", "/"} & set(text)]


def make_tables(session: SparkSession, database: str, folder: Path) -> None:
    """Make all tables in a folder, which is that of the database."""
    session.sql(f"CREATE EXTERNAL TABLE {database}.victim (id INT) LOCATION '{(folder / 'victim').as_uri()}'")
    for number, stored in enumerate(PARTITIONED):
        values = VALUES if stored == "textfile" else VALUES[number :: len(PARTITIONED)]
        _make_partitioned(session, f"{database}.{stored}", stored, folder / stored, values)
    for name in (*RECORDS, "options", "planted", "unreadable", GONE):
        _make_flat(session, f"{database}.{name}", folder / name, VARIABLES[:1])
    _set_options(session, f"{database}.options")
    # Spark parses no union.
    kind = f"struct<{VARIABLES[9]}:uniontype<int,string>>"
    recreate(session, f"{database}.unreadable", lambda entry: entry.getSd().getCols().get(0).setType(kind))
    _make_placed(session, f"{database}.placed", folder)
    _plant_records(folder / ".lakekeeper-planted")


def _make_partitioned(
    session: SparkSession, table: str, stored: str, folder: Path, values: Sequence[str]
) -> None:
    """Make a table with a partition of two files for each value, and texts in all that describes it."""
    columns = ["v", *(VARIABLES[:3] if stored in ("textfile", "orc") else ())]
    declared = ", ".join(f"`{column}` STRING COMMENT {literal(VARIABLES[0])}" for column in columns)
    properties = {f"p{number}": text for number, text in enumerate(_PROPERTIES)}
    layout = {"parquet.compression": "UNCOMPRESSED", "orc.compress": "NONE", "comment": VARIABLES[0]}
    if stored == "avro":
        layout["avro.schema.literal"] = _avro_schema()
    session.sql(
        f"CREATE EXTERNAL TABLE {table} ({declared}) COMMENT {literal(VARIABLES[0])}"
        f" PARTITIONED BY (p STRING COMMENT {literal(VARIABLES[1])}) STORED AS {stored}"
        f" LOCATION '{folder.as_uri()}' TBLPROPERTIES ({_clause({**properties, **layout})})"
    )
    if stored == "textfile":
        session.sql(f"ALTER TABLE {table} SET SERDEPROPERTIES ({_clause(properties)})")
    for _ in range(2):
        _insert(session, table, len(columns), values)
    # After the inserts, which would take it for a size.
    session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('parquet.block.size'='${{{HADOOP_PROPERTY}}}')")
    with metastore_client(session) as client:
        partition = client.listPartitions(*table.split("."), 1)[0]
        for key, text in properties.items():
            partition.putToParameters(key, text)
        client.alter_partition(*table.split("."), partition)


def _clause(properties: dict[str, str]) -> str:
    return ", ".join(f"{literal(key)}={literal(text)}" for key, text in properties.items())


def _avro_schema() -> str:
    field = {"name": "v", "type": ["null", "string"], "default": None, "doc": VARIABLES[6]}
    return json.dumps({"type": "record", "name": "r", "doc": VARIABLES[9], "fields": [field]})


def _insert(session: SparkSession, table: str, columns: int, values: Sequence[str]) -> None:
    """Write one file into the partition of each value. Each row has a text in all of its columns."""
    from pyspark.sql import functions as F

    rows = F.from_json(F.lit(json.dumps([{"p": value} for value in values])), "array<struct<p:string>>")
    names = [f"c{number}" for number in range(columns)]
    frame = session.range(1).select(
        *[F.lit(VARIABLES[0]).alias(name) for name in names], F.explode(rows).alias("row")
    )
    frame.select(*names, "row.p").coalesce(1).write.insertInto(table)


def _make_flat(session: SparkSession, table: str, folder: Path, texts: Sequence[str]) -> None:
    """Make a table of six files of text without partitions, which has the texts as properties."""
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"{NAME}\n")
    session.sql(f"CREATE EXTERNAL TABLE {table} (v STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}'")
    with metastore_client(session) as client:
        entry = client.getTable(*table.split("."))
        for text in texts:
            entry.putToParameters(text, text)
        client.alter_table(*table.split("."), entry)


def _set_options(session: SparkSession, table: str) -> None:
    """Set each option that its owner may set to a text. One that would end the work on it is left out."""
    names = [name for name, option in OPTIONS.items() if option.unreadable is None]
    texts = {f"{PROPERTY_PREFIX}{name}": _PROPERTIES[i % len(_PROPERTIES)] for i, name in enumerate(names)}
    session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({_clause(texts)})")


def _make_placed(session: SparkSession, table: str, folder: Path) -> None:
    """Make a table with a directory, and one with a file, of each name."""
    session.sql(
        f"CREATE EXTERNAL TABLE {table} (v STRING) PARTITIONED BY (p STRING) STORED AS TEXTFILE"
        f" LOCATION '{(folder / 'placed').as_uri()}'"
    )
    for number, (place, name) in enumerate(_places(folder)):
        place.mkdir(parents=True)
        for start in range(6):
            (place / f"{start}{name}.txt").write_text(f"{NAME}\n")
        session.sql(f"ALTER TABLE {table} ADD PARTITION (p='{number}') LOCATION {literal(f'file:{place}')}")


def _places(folder: Path) -> Iterator[tuple[Path, str]]:
    for number, name in enumerate(_NAMES):
        yield folder / "elsewhere" / f"{number}{name}", ""
        yield folder / "elsewhere" / f"f{number}", name


def _plant_records(home: Path) -> None:
    """Write records of all kinds with texts in the places of names, as whoever may write there could."""
    for number, text in enumerate(TEXTS):
        journal = home / f"run{number}.0123456789ab" / "journal"
        journal.mkdir(parents=True)
        body = {"table": text, "location": text, "homes": [text], "user": text, "spec": [[text, text]]}
        record = {"schema_version": 1, "version": text, "kind": text if number % 2 else "RUN", **body}
        (journal / "000001.json").write_text(
            json.dumps({**record, "at": "2026-02-24T01:00:00Z", "run": body})
        )
