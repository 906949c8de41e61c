"""Runs inside an archive of an earlier release: every state in which its jobs may leave a cluster, as lines of JSON.

    PYTHONPATH=jobs-0.1.0.zip python make_states.py TABLE SCRIPT

Names are those of 0.1.0. A script is verbs parted by commas; of the last one, all states in which it may die.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.gate import Fault
from tests.crash.scenario import build, run
from tests.crash.world import Client, World

AT_ONCE = ("--older-than", "0s", "--skip-trash")


def verb(name: str, table: str) -> Callable[[Client], Any]:
    arguments = {"compact": ("--run-id", "r1"), "cleanup": AT_ONCE}.get(name, ())
    return lambda client: run(client, name, "--tables", table, *arguments)


def overwritten(world: World, table: str) -> None:
    """Somebody of unknown kind made a directory anew between the two renames of a compaction: it is quarantined."""
    (unit, *_) = world.metastore.get(
        next(name for name, _ in world.metastore.tables() if str(name) == table)
    ).units()
    fresh = world.ledger.fresh(2)

    def into(point: Any) -> bool:
        return point.op == "rename" and point.args[1] == unit.location

    client = world.client(Fault.hook(into, lambda: writers.append(world, unit.location, fresh)))
    verb("compact", table)(client)


def as_json(world: World) -> dict[str, Any]:
    tree = world.tree
    return {
        "millis": tree.millis,
        "next_id": tree.next_id,
        "inodes": {
            number: {**vars(inode), "children": dict(inode.children), "content": text(inode.content)}
            for number, inode in tree.inodes.items()
        },
        "tables": {
            str(name): {"facts": asdict(table.facts), "partitions": [*table.partitions.items()]}
            for name, table in world.metastore.tables()
        },
        "ledger": {
            "next_id": world.ledger.next_id,
            "committed": sorted(world.ledger.committed),
            "overwritten": sorted(world.ledger.overwritten),
        },
        "born": world.born,
    }


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def main(table: str, script: str) -> None:
    world, verbs = build(), script.split(",")
    for name in verbs[:-1]:
        overwritten(world, table) if name == "overwritten" else verb(name, table)(world.client())
    if verbs[-1] == "overwritten":
        overwritten(world, table)
        print(json.dumps({"label": "quarantined", "cluster": as_json(world)}))
        return
    for state in crash_states(world, verb(verbs[-1], table)):
        print(json.dumps({"label": str(state), "cluster": as_json(state.world)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
