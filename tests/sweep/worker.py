"""The process of the sweep that has the session: trials come in by lines, and verdicts go out.

A line is JSON: `{"table": "text", "settings": {"hadoop NAME": "VALUE"}}`, or `{"values": ["hadoop NAME", ...]}` to ask
for the values that settings have. Arguments are settings of the session's driver: `spark.NAME=VALUE`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from dataclasses import asdict
from typing import Any

from tests.sweep.recording import HADOOP
from tests.sweep.session import swept_session
from tests.sweep.tables import TABLES
from tests.sweep.trial import FAILED, REJECTED, UNUSABLE, NotCreated, Rejected, Trials, Verdict

_TABLES = {table.name: table for table in TABLES}


def main() -> int:
    logging.getLogger("lakekeeper").setLevel(logging.CRITICAL)
    # What the jobs print is no answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    static = dict(word.split("=", 1) for word in sys.argv[1:])
    with swept_session(static) as (spark, folder):
        trials = Trials(spark, "sweep", folder)
        print(json.dumps("ready"), file=answers)
        for line in sys.stdin:
            request = json.loads(line)
            answer: Any = (
                _values(spark, request["values"]) if "values" in request else _tried(trials, request)
            )
            if spark._jsc.sc().isStopped():  # out of memory: a driver that has ended gives no answers
                return 1
            print(json.dumps(answer), file=answers)
    return 0


def _tried(trials: Trials, request: dict[str, Any]) -> dict[str, str] | bool:
    table, settings = _TABLES[request["table"]], request["settings"]
    try:
        return trials.plain(table, settings) if request.get("plain") else asdict(trials.run(table, settings))
    except Rejected as error:
        return asdict(Verdict(REJECTED, str(error)[:300]))
    except NotCreated as error:
        # Only settings of the driver can be to blame: without them, each table is created.
        return asdict(Verdict(UNUSABLE if len(sys.argv) > 1 else FAILED, str(error)[:300]))
    except Exception as error:
        return asdict(Verdict(FAILED, f"{type(error).__name__}: {error}"[:300]))


def _values(spark: Any, names: list[str]) -> dict[str, tuple[str | None, list[str]]]:
    """Return the value of each setting, which may be its default, and the words that it may be if it is one of them."""
    hadoop, conf = spark._jsc.hadoopConfiguration(), spark._jsparkSession.sessionState().conf()
    found: dict[str, tuple[str | None, list[str]]] = {}
    for key in names:
        kind, _, name = key.partition(" ")
        if kind == HADOOP:
            found[key] = hadoop.getRaw(name), []
        else:
            found[key] = _value(conf, name) or _declared(spark, name), _words(spark, name)
    return found


def _words(spark: Any, name: str) -> list[str]:
    """Return the words that a setting of a session may be: Spark names them where it refuses another one."""
    before = spark.conf.get(name, None)
    try:
        spark.conf.set(name, "no such word")
    except Exception as error:
        found = re.search(r"should be one of (.*?),? but was", str(error))
        return re.findall(r"[\w.-]+", found[1]) if found else []
    spark.conf.unset(name) if before is None else spark.conf.set(name, before)
    return []


def _declared(spark: Any, name: str) -> str | None:
    """Return the default of a setting of Spark itself."""
    entry = spark._jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(name)
    return None if entry is None else str(entry.defaultValueString())


def _value(conf: Any, name: str) -> str | None:
    """Return the value of a setting of a session, or its default; None if it has none."""
    try:
        return str(conf.getConfString(name))
    except Exception:
        return None


if __name__ == "__main__":
    sys.exit(main())
