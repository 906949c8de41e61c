"""A spark-submit without Spark: it keeps a small model of tables, and records how it was called.

The folder above that of this script has

    calls.jsonl   one line per call: when, argv, the request, the environment
    tables.json   the runs that stand, newest last, by table; a table with none is flagged by an analysis
    plan.json     what goes wrong, by verb, or by verb and table:
                  {"compact": {"outcome": "partial", "exit": 1, "report": "none"}, "analyze sales.a": {"lines": [...]}}
                  An exit code below 0 is a signal.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import sys
import time
from contextlib import contextmanager
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
VERBS = ("analyze", "compact", "rollback", "cleanup", "check", "history", "doctor")
SIZES = {"before": {"files": 600, "bytes": 314572}, "after": {"files": 3, "bytes": 290012}}

CHECK = {
    "check": "hdfs",
    "where": "driver",
    "outcome": "good",
    "tried": "read /",
    "found": "it answers",
    "action": None,
}


def value(argv, flag):
    return argv[argv.index(flag) + 1] if flag in argv else None


def load(name, default):
    path = HOME / name
    return json.loads(path.read_text()) if path.exists() else default


@contextmanager
def locked():
    """Neither another spark-submit nor the test sees half of what is written."""
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def local(uri):
    return Path(uri.removeprefix("file://"))


def verb_of(argv):
    names = [Path(word).stem for word in argv]
    return next(name for name in names if name in VERBS)


def table_report(verb, table, request, run_id, tables):
    runs = tables.setdefault(table, [])
    wanted = request.get("runs", {})
    asked = wanted.get(table) or wanted.get("*") or ([run_id] if run_id else runs[-1:])
    base = {"table": table, "code": None, "reason": None, "run_id": run_id, "rows": 300000, **SIZES}
    unit = {"unit": {"date": "2026-02-23"}, "code": None, "reason": None}
    if verb == "analyze":
        outcome, did = ("nothing", "healthy") if runs else ("done", "flagged")
    elif verb == "compact":
        outcome, did = ("nothing", "skipped") if runs else ("done", "compacted")
        runs += [] if runs else [run_id]
    elif verb == "rollback":
        newest = bool(runs) and runs[-1] in asked
        outcome, did = ("done", "restored") if newest else ("nothing", "nothing")
        del runs[len(runs) - newest :]
    elif verb == "history":
        rows = [history_row(run) for run in reversed(runs)]
        return {**base, "outcome": "done" if runs else "nothing", "units": [], "history": rows}
    elif verb == "check":
        return {**base, "outcome": "done" if runs else "nothing", "units": [], "findings": []}
    else:
        outcome, did = ("done", "cleaned") if runs else ("nothing", "nothing")
    return {**base, "outcome": outcome, "units": [{**unit, "outcome": did}]}


def history_row(run):
    done = {"run_id": run, "kind": "compact", "at": "2026-02-24T01:03:10Z", "who": "etl", "snapshot": 1}
    return {
        **done,
        "units": 1,
        "rows": 300000,
        **SIZES,
        "seconds": 190.2,
        "rollback": "possible",
        "unlogged": False,
    }


def doctor_report(plan):
    checks = plan.get("checks", [CHECK])
    outcome = "failed" if any(check["outcome"] == "bad" for check in checks or ()) else "done"
    return {
        "schema_version": 1,
        "verb": "doctor",
        "outcome": plan.get("outcome", outcome),
        "error": plan.get("error"),
        "ended": "2026-02-24T01:03:10Z",
        "tables": [],
        "checks": checks,
    }


def report_of(verb, argv, request, plan):
    if verb == "doctor":
        return doctor_report(plan)
    selected = value(argv, "--table") or value(argv, "--tables")
    names = (
        selected.split(",") if selected else [f"{value(argv, '--database')}.{name}" for name in ("a", "b")]
    )
    with locked():
        tables = load("tables.json", {})
        run_id = value(argv, "--run-id")
        reports = [table_report(verb, name, request, run_id, tables) for name in names]
        (HOME / "tables.json").write_text(json.dumps(tables))
    for changed in reports:
        changed.update(plan.get("tables", {}).get(changed["table"], plan.get("table", {})))
    outcome = "done" if any(r["outcome"] == "done" for r in reports) else "nothing"
    times = {"started": "2026-02-24T01:00:00Z", "ended": "2026-02-24T01:03:10Z"}
    head = {"schema_version": 1, "verb": verb, "version": "0.2.0.dev0", "run_id": run_id, **times}
    reports = plan.get("replaced", reports)
    return {**head, "outcome": plan.get("outcome", outcome), "error": plan.get("error"), "tables": reports}


def record(argv, request):
    where = local(value(argv, "--request"))
    call = {
        "at": time.time(),
        "argv": argv,
        "request": request,
        "folder_mode": stat.S_IMODE(where.parent.stat().st_mode),
        "bundle": [Path(p).is_file() for p in (value(argv, "--py-files") or "").split(",") if p],
        "environ": dict(os.environ),
    }
    with locked(), (HOME / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(call) + "\n")


def main(argv):
    request = json.loads(local(value(argv, "--request")).read_text())
    record(argv, request)
    verb = verb_of(argv)
    with locked():
        plans = load("plan.json", {})
    plan = plans.get(f"{verb} {value(argv, '--table')}", plans.get(verb, {}))
    print(f"working on {verb}", flush=True)
    for line in plan.get("lines", ()):
        print(line, flush=True)
    if plan.get("sleep"):
        (HOME / "started").touch()
        time.sleep(plan["sleep"])
    report = json.dumps(report_of(verb, argv, request, plan))
    where = plan.get("report", "both")
    if where in ("both", "file"):
        local(value(argv, "--report")).write_text(report)
    if where == "broken":
        local(value(argv, "--report")).write_text(report[:40])
    if where in ("both", "stdout"):
        print(*filter(None, ["LAKEKEEPER_REPORT", value(argv, "--report-nonce"), report]), flush=True)
    if plan.get("exit", 0) < 0:
        os.kill(os.getpid(), -plan["exit"])
    return plan.get("exit", 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
