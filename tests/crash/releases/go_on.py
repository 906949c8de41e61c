"""Runs inside an archive of an earlier release: its jobs go on with clusters that this release left.

    PYTHONPATH=jobs-0.1.0.zip python go_on.py < a line of JSON for each cluster

Names are those of 0.1.0. Each line has a cluster and the words of the jobs; the answer has their exit codes and the
cluster that they leave.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from make_states import as_json

from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import TableName
from tests.crash.model_metastore import ModelTable
from tests.crash.model_tree import Inode
from tests.crash.scenario import run
from tests.crash.world import World


def known(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """What this release has a name for."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in data.items() if name in names}


def world_of(data: Mapping[str, Any]) -> World:
    world = World()
    world.tree.millis, world.tree.next_id, world.born = data["millis"], data["next_id"], data["born"]
    world.tree.inodes = {
        int(number): Inode(**known(Inode, {**inode, "content": base64.b64decode(inode["content"])}))
        for number, inode in data["inodes"].items()
    }
    for name, table in data["tables"].items():
        parsed = TableName.parse(name)
        world.metastore.databases.setdefault(parsed.database, {})
        partitions = {tuple(map(tuple, spec)): place for spec, place in table["partitions"]}
        world.metastore.put(parsed, ModelTable(facts_of(table["facts"]), partitions))
    world.ledger.next_id = data["ledger"]["next_id"]
    world.ledger.committed = set(data["ledger"]["committed"])
    world.ledger.overwritten = set(data["ledger"]["overwritten"])
    return world


def facts_of(data: Mapping[str, Any]) -> TableFacts:
    lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    columns = tuple((name, kind) for name, kind in data["columns"])
    facts = {**data, **lists, "columns": columns, "storage": Storage(**known(Storage, data["storage"]))}
    return TableFacts(**known(TableFacts, facts))


for line in sys.stdin:
    asked = json.loads(line)
    world = world_of(asked["cluster"])
    codes = [run(world.client(), *words)["exit_code"] for words in asked["jobs"]]
    print(json.dumps({"codes": codes, "cluster": as_json(world)}))
