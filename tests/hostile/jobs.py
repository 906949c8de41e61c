"""Run by spark-submit: each verb, by its own script, over tables whose texts are those of the corpus.

    spark-submit jobs.py FOLDER PART

Nothing but the scripts' own output is printed. One session serves all verbs, as a session per verb would take minutes.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.hostile.corpus import HADOOP_PROPERTY, LONG, MARKER, NAME, TEXTS, VALUES, VARIABLES
from tests.hostile.verbs import calls, planted

_FORMATS = {
    "text": "TEXTFILE",
    "parquet": "PARQUET",
    "avro": "AVRO",
    "sequence": "SEQUENCEFILE",
    "orc": "ORC",
}


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def make(session: SparkSession, folder: Path, values: list[str]) -> None:
    """Make a table of each format with a partition of two files for each value, and texts in all that describes it."""
    session.sql(f"CREATE DATABASE hostile LOCATION '{folder.as_uri()}'")
    session.sql(f"CREATE EXTERNAL TABLE hostile.victim (id INT) LOCATION '{(folder / 'victim').as_uri()}'")
    for number, (name, stored) in enumerate(_FORMATS.items()):
        some = values if name == "text" else values[number :: len(_FORMATS)]
        _make_one(session, folder, name, stored, some)


def _make_one(session: SparkSession, folder: Path, name: str, stored: str, values: list[str]) -> None:
    columns = ("v", *(text for text in VARIABLES[:3] if name in ("text", "orc")))
    declared = ", ".join(f"`{column}` STRING COMMENT {literal(VARIABLES[0])}" for column in columns)
    texts = {f"p{i}": text for i, text in enumerate(TEXTS) if text not in ("\x00", "a\x00b", "\udc80", LONG)}
    properties = ", ".join(f"{literal(key)}={literal(text)}" for key, text in texts.items())
    layout = {"parquet.compression": "UNCOMPRESSED", "orc.compress": "NONE", "avro.output.codec": "null"}
    layout |= {"parquet.block.size": f"${{{HADOOP_PROPERTY}}}", "comment": VARIABLES[0]}
    more = ", ".join(f"{literal(key)}={literal(text)}" for key, text in layout.items())
    session.sql(
        f"CREATE EXTERNAL TABLE hostile.{name} ({declared}) COMMENT {literal(VARIABLES[0])}"
        f" PARTITIONED BY (p STRING COMMENT {literal(VARIABLES[0])}) STORED AS {stored}"
        f" LOCATION '{(folder / name).as_uri()}' TBLPROPERTIES ({properties}, {more})"
    )
    if name == "text":
        session.sql(f"ALTER TABLE hostile.text SET SERDEPROPERTIES ({properties})")
    rows = json.dumps([{"p": value} for value in values])
    row = F.explode(F.from_json(F.lit(rows), "array<struct<p:string>>")).alias("row")
    for _ in range(2):
        frame = session.range(1).select(
            *[F.lit(VARIABLES[0]).alias(f"c{i}") for i in range(len(columns))], row
        )
        frame.select(*[f"c{i}" for i in range(len(columns))], "row.p").coalesce(1).write.insertInto(
            f"hostile.{name}"
        )


def run(verb: str, words: list[str]) -> None:
    """Run a verb as a process would, and show an error as Python shows one."""
    sys.argv = [f"{verb}.py", *words]
    print(f"BEGIN {verb}", flush=True)
    try:
        runpy.run_path(str(ROOT / "spark_jobs" / f"{verb}.py"), run_name="__main__")
    except SystemExit as ended:
        print(f"END {verb} {ended.code}", flush=True)
    except BaseException:
        traceback.print_exc()
        print(f"END {verb} died", flush=True)


def main(folder: Path, start: int, step: int) -> None:
    # Makes tables as another tool would: it substitutes nothing.
    session = SparkSession.builder.enableHiveSupport().getOrCreate()
    plain = session.newSession()
    plain.conf.set("spark.sql.variable.substitute", "false")
    plain.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    make(plain, folder / "db", VALUES[start::step])
    planted(folder / "db" / ".lakekeeper-planted")
    SparkSession.stop = lambda self: None  # type: ignore[method-assign]
    for verb, words in calls(folder):
        run(verb, words)
    print(
        "TABLES", *sorted(row.tableName for row in plain.sql("SHOW TABLES IN hostile").collect()), flush=True
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
