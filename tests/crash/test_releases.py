"""Homes that an earlier release left, in every state in which it may have died: they are recovered, rolled back and
cleaned up by the jobs as they are now."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import TableName
from tests.crash.explorer import restored_what_was_left
from tests.crash.figures import figures
from tests.crash.model_metastore import ModelTable
from tests.crash.model_tree import Inode
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster

RELEASES = Path(__file__).with_name("releases")
AT_ONCE = ("--older-than", "0s", "--skip-trash")
#: What the next job may be; each is followed by a compaction, and then all that is left is cleaned up.
NEXT = [("compact",), ("rollback",), ("cleanup", *AT_ONCE)]


def cluster(data: dict[str, Any]) -> SimulatedCluster:
    sim = SimulatedCluster()
    sim.tree.millis, sim.tree.next_id, sim.born = data["millis"], data["next_id"], data["born"]
    sim.tree.inodes = {
        int(number): Inode(**{**inode, "content": base64.b64decode(inode["content"])})
        for number, inode in data["inodes"].items()
    }
    for name, table in data["tables"].items():
        parsed = TableName.parse(name)
        sim.metastore.databases.setdefault(parsed.database, {})
        partitions = {tuple(map(tuple, spec)): place for spec, place in table["partitions"]}
        sim.metastore.put(parsed, ModelTable(facts(table["facts"]), partitions))
    ledger = data["ledger"]
    sim.ledger.next_id = ledger["next_id"]
    sim.ledger.committed, sim.ledger.overwritten = set(ledger["committed"]), set(ledger["overwritten"])
    return sim


def facts(data: dict[str, Any]) -> TableFacts:
    lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    columns = tuple((name, kind) for name, kind in data["columns"])
    return TableFacts(**{**data, **lists, "columns": columns, "storage": Storage(**data["storage"])})


@cache
def left_by(release: str, table: str, script: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The states in which its jobs may leave a cluster, each with a word on how."""
    command = [sys.executable, RELEASES / "make_states.py", table, script]
    environ = {**os.environ, "PYTHONPATH": str(RELEASES / f"jobs-{release}.zip"), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, env=environ, cwd=RELEASES, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return tuple((each["label"], each["cluster"]) for each in found)


def continued(data: dict[str, Any], verb: str, *arguments: str, table: str) -> Iterator[tuple[str, Any, Any]]:
    """One job after the other, until nothing is left; with each one's report, and what is wrong then."""
    sim = cluster(data)
    for step, words in (
        (verb, arguments),
        ("compact", ()),
        ("rollback", ()),
        ("compact", ()),
        ("cleanup", AT_ONCE),
    ):
        report = run(sim.client(), step, "--tables", table, *words)
        yield step, report, check(sim)
    left = [
        path
        for path, _, inode in sim.tree.walk("hdfs://model")
        if "/__originals_" in path and not inode.is_dir
    ]
    yield "the end", {"exit_code": 0}, [f"{path} is left" for path in left]


@pytest.mark.parametrize("following", NEXT, ids=lambda words: words[0])
@pytest.mark.parametrize("script", ["compact", "compact,rollback", "compact,cleanup"])
@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_whatever_it_left_is_continued(table: str, script: str, following: tuple[str, ...]) -> None:
    line = figures(f"homes of 0.1.0, {script} {table}", f"then {following[0]}")
    for label, data in left_by("0.1.0", table, script):
        line.recoveries += 1
        for step, report, amiss in continued(data, *following, table=table):
            failed = report["exit_code"] and not restored_what_was_left(report)
            problems = [*amiss, *([f"{step} ended with {report['exit_code']}"] if failed else [])]
            line.violated(f"0.1.0 {script} {label}; then {following[0]}: {step}", problems)
    line.states = line.recoveries
    assert line.violations == []


@pytest.mark.parametrize("following", NEXT, ids=lambda words: words[0])
@pytest.mark.parametrize("table", [FLAT, EVENTS])
def test_what_it_quarantined_stays_so_and_is_settled_by_a_word(
    table: str, following: tuple[str, ...]
) -> None:
    ((_, data),) = left_by("0.1.0", table, "overwritten")
    sim = cluster(data)
    assert run(sim.client(), following[0], "--tables", table, *following[1:])["exit_code"] == 3
    assert check(sim, journaled=True) == []
    request = {"arguments": {"writers": "append"}}
    assert run(sim.client(), "compact", "--tables", table, request=request)["exit_code"] == 0
    assert check(sim) == []
