"""Run by spark-submit: each verb, by its own script, over tables whose texts are those of the corpus.

    spark-submit jobs.py DATABASE DATA WORK

Nothing but the scripts' own output is printed, between lines of this program. One session serves all verbs, because one
for each would take minutes.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from pyspark.sql import SparkSession  # noqa: E402 - found by the path above

from spark_jobs.protocol.execution import folding  # noqa: E402
from tests.hostile.corpus import (  # noqa: E402
    CONTROL,
    HADOOP_PROPERTY,
    NAME,
    ODD,
    PROPERTY,
    SECRETS,
    VARIABLES,
)
from tests.hostile.records import put_text  # noqa: E402
from tests.hostile.tables import GONE, RECORDS  # noqa: E402
from tests.hostile.tracing import Tracing  # noqa: E402
from tests.hostile.verbs import ARGUMENTS, Call, Place, on_records, on_tables, on_texts  # noqa: E402


def set_secrets(session: SparkSession) -> None:
    """Set the secrets that no argument of spark-submit can set; see that each of them is where it would be found."""
    context = session.sparkContext._jsc.sc().conf()
    for key in (PROPERTY, NAME):
        context.set(key, SECRETS["Hive variable"])
    other = session.newSession()
    hadoop, java = session._jsc.hadoopConfiguration(), session._jvm.java.lang.System
    assert os.environ[NAME] == java.getenv(NAME) == SECRETS["environment"]
    assert java.getProperty(PROPERTY) == SECRETS["system property"]
    assert context.get(f"spark.{PROPERTY}") == SECRETS["Spark property"]
    assert hadoop.get(HADOOP_PROPERTY) == SECRETS["Hadoop property"]
    # What a statement and a setting come to that nobody protects.
    hadoop.set("unprotected", f"${{{HADOOP_PROPERTY}}} ${{env.{NAME}}}")
    assert hadoop.get("unprotected") == f"{SECRETS['Hadoop property']} {SECRETS['environment']}"
    hadoop.unset("unprotected")
    for variable, place in ((VARIABLES[0], "environment"), (f"${{hivevar:{PROPERTY}}}", "Hive variable")):
        assert other.sql(f'SELECT "{variable}"').first()[0] == SECRETS[place]


def run(calls: Iterable[Call]) -> None:
    """Run verbs as processes would, and show an error as Python shows one."""
    for verb, words in calls:
        sys.argv = [f"{verb}.py", *words]
        print(f"BEGIN {verb}", flush=True)
        try:
            runpy.run_path(str(ROOT / "spark_jobs" / f"{verb}.py"), run_name="__main__")
        except SystemExit as ended:
            print(f"END {verb} {ended.code}", flush=True)
        except BaseException:
            traceback.print_exc()
            print(f"END {verb} died", flush=True)


def run_by_hand(first_words: Iterable[str]) -> None:
    """Run the script of `generate-bundle`, which names the word that is no verb."""
    for word in ("--help", *first_words):
        sys.argv = ["run_lakekeeper.py", word]
        with suppress(SystemExit):
            runpy.run_path(str(ROOT / "spark_jobs" / "run_lakekeeper.py"), run_name="__main__")


def main(place: Place) -> None:
    session = SparkSession.builder.enableHiveSupport().getOrCreate()
    set_secrets(session)
    SparkSession.stop = lambda *_: None  # type: ignore[method-assign]
    tracing = Tracing()
    tracing.start()
    run(on_tables(place))
    # A run that is settled goes into a record after a day. What it was is kept for the search.
    shutil.copytree(place.data, place.work / "kept")
    folding.FOLD_AFTER = timedelta(0)
    for number, (table, text) in enumerate(zip(RECORDS, [*VARIABLES[:8], *ODD, *CONTROL], strict=False)):
        put_text(place.data / f".lakekeeper-{table}", text, number)
    session.sql(f"DROP TABLE {place.database}.{GONE}")
    run(on_records(place))
    run(on_texts(place))
    run_by_hand(ARGUMENTS)
    (place.work.parent / "reached.json").write_text(json.dumps(tracing.reached, indent=1, sort_keys=True))


if __name__ == "__main__":
    main(Place(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
