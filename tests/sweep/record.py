"""Record the settings that are read while each table of the sweep is analysed, compacted and verified.

.envs/spark-3.5/bin/python -m tests.sweep.record        writes tests/sweep/settings.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.sweep.recording import SPARK, SQL, Recorder
from tests.sweep.session import swept_session
from tests.sweep.tables import TABLES
from tests.sweep.trial import SAME, Trials

SETTINGS = Path(__file__).with_name("settings.json")
#: The settings of sessions that tasks may read, by the first word of a table's name.
PREFIXES = {
    "parquet": ("spark.sql.parquet.", "spark.sql.legacy.parquet."),
    "orc": ("spark.sql.orc.",),
    "avro": ("spark.sql.avro.", "spark.sql.legacy.avro."),
}
#: One table is tried with every setting of a session that Spark declares.
WITH_ALL = "parquet joint"


def record(spark: Any, folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the settings that are read with each table, and those that its tasks may read besides."""
    from spark_jobs.adapters.spark import sessions

    trials, recorder = Trials(spark, "sweep", folder), Recorder(spark)
    configured = sessions._configured

    def recorded(session: Any, settings: Any) -> Any:
        found = configured(session, settings)
        recorder.record_sql(found)
        return found

    for table in TABLES:  # what loads classes loads them now
        assert trials.run(table, {}).kind == SAME, table.name
    recorder.record_hadoop()
    recorder.record_spark()
    recorder.record_sql(spark)
    sessions._configured = recorded
    found: dict[str, dict[str, list[str]]] = {"read": {}, "declared": {}}
    for table in TABLES:
        recorder.take()
        verdict = trials.run(table, {})
        assert verdict.kind == SAME, (table.name, verdict)
        read = recorder.take()
        found["read"][table.name] = sorted(read)
        found["declared"][table.name] = sorted(declared(spark, table.name) - read)
    sessions._configured = configured
    return found


def declared(spark: Any, table: str) -> set[str]:
    """Return the declared settings of sessions that the tasks of a table may read, and those fixed at the start."""
    prefixes = ("",) if table == WITH_ALL else PREFIXES.get(table.split(" ")[0], ())
    conf = getattr(getattr(spark._jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    names = [str(entry.key()) for entry in conf.getConfigEntries().toArray()]
    return {
        f"{SPARK if conf.isStaticConfigKey(name) else SQL} {name}"
        for name in names
        if name.startswith(prefixes)
    }


def main() -> int:
    with swept_session() as (spark, folder):
        found = record(spark, folder)
    SETTINGS.write_text(json.dumps(found, indent=1) + "\n")
    for name, read in found["read"].items():
        print(f"{name}: {len(read)} settings read, {len(found['declared'][name])} more to try")
    return 0


if __name__ == "__main__":
    sys.exit(main())
