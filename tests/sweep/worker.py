"""The process of the sweep that has the session: trials come in by lines, and verdicts go out.

A line is JSON: `{"table": "text", "settings": {"hadoop NAME": "VALUE"}}`, or `{"values": ["hadoop NAME", ...]}` to ask
for the values that settings have.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict
from typing import Any

from tests.sweep.recording import HADOOP, SQL
from tests.sweep.session import swept_session
from tests.sweep.tables import TABLES
from tests.sweep.trial import FAILED, REJECTED, Rejected, Trials, Verdict

_TABLES = {table.name: table for table in TABLES}


def main() -> int:
    logging.getLogger("lakekeeper").setLevel(logging.CRITICAL)
    # What the jobs print is no answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    with swept_session() as (spark, folder):
        trials = Trials(spark, "sweep", folder)
        for table in TABLES:
            trials.run(table, {})
        print(json.dumps("ready"), file=answers)
        for line in sys.stdin:
            request = json.loads(line)
            answer: Any = (
                _values(spark, request["values"]) if "values" in request else _tried(trials, request)
            )
            print(json.dumps(answer), file=answers)
    return 0


def _tried(trials: Trials, request: dict[str, Any]) -> dict[str, str]:
    try:
        return asdict(trials.run(_TABLES[request["table"]], request["settings"]))
    except Rejected as error:
        return asdict(Verdict(REJECTED, str(error)[:300]))
    except Exception as error:
        return asdict(Verdict(FAILED, f"{type(error).__name__}: {error}"[:300]))


def _values(spark: Any, names: list[str]) -> dict[str, str | None]:
    """Return the value of each setting: of Hadoop's configuration, or of a session, where it may be a default."""
    hadoop, conf, found = spark._jsc.hadoopConfiguration(), spark._jsparkSession.sessionState().conf(), {}
    for key in names:
        kind, _, name = key.partition(" ")
        if kind == HADOOP:
            found[key] = hadoop.getRaw(name)
        elif kind == SQL:
            found[key] = _value(conf, name)
    return found


def _value(conf: Any, name: str) -> str | None:
    """Return the value of a setting of a session, or its default; None if it has none."""
    try:
        return str(conf.getConfString(name))
    except Exception:
        return None


if __name__ == "__main__":
    sys.exit(main())
