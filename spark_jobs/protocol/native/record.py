"""The history of a native table: the runs whose commits it keeps, with the files before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from spark_jobs.core.records.history import POSSIBLE, SUPERSEDED
from spark_jobs.core.records.snapshots import COMPACT, Sizes
from spark_jobs.core.wire.report import utc
from spark_jobs.protocol.native.runs import NativeHistory, NativeRun
from spark_jobs.protocol.native.session import NativeSession
from spark_jobs.protocol.native_ports import DataFile


def row(session: NativeSession, history: NativeHistory, run: NativeRun) -> dict[str, Any]:
    """Return the row of a run, in the form of the rows of other tables. Its rows and seconds are not known."""
    before = session.table.files(run.before)
    after = session.table.files(run.after) if run.after else before
    kept = {file.path for file in after}
    at = {commit.id: utc(commit.at) for commit in history.commits}
    return {
        "snapshot": None,
        "run_id": run.run_id,
        "kind": COMPACT,
        "at": at.get(run.after or run.before, ""),
        "who": None,
        "units": len({file.unit for file in before if file.path not in kept}),
        "rows": 0,
        "seconds": None,
        "rollback": POSSIBLE if history.can_be_rolled_back(run) else SUPERSEDED,
        "unlogged": True,
        "before": asdict(_sizes(before)),
        "after": asdict(_sizes(after)),
    }


def _sizes(files: Iterable[DataFile]) -> Sizes:
    found = list(files)
    return Sizes(len(found), sum(file.length for file in found))
