"""The page of the settings that are read while tables are compacted, and of what the jobs set themselves."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_RECORDED = _ROOT / "tests/sweep/settings.json"
#: Where the jobs set or remove settings: a module, and the names of its constants.
_CONSTANTS = {
    "spark_jobs/adapters/spark/sessions.py": ("PINNED", "COMMITTER"),
    "spark_jobs/adapters/spark/data_configuration.py": ("_STRICT", "_UNSET"),
    "spark_jobs/adapters/spark/formats/orc.py": ("_PINNED",),
    "spark_jobs/adapters/spark/formats/text.py": ("_LINES",),
}
_TITLES = {"hadoop": "Hadoop's configuration", "sql": "Sessions of Spark SQL", "spark": "Spark itself"}
_INTRODUCTION = """\
# Settings that are read

This page is generated from a recording: tables of each format, and of each way in which their files are written, are
compacted on Spark 3.5 while each read of a setting is noted, of Hadoop's configuration, of Spark's sessions and of
Spark itself, on the driver and in tasks. On HDFS, the settings of its client come in addition.

A setting that has a value here has it in all jobs, whatever the cluster, the session or a table says; `not set` means
that the jobs remove it. All others are the cluster's. `tests/sweep` gives each setting other values, one at a time:
the rows, the types and the metadata of a table must be the same afterwards, or the unit is refused, or the job fails
with the originals in place.
"""


def page() -> str:
    """Return the page; it needs no package."""
    read = json.loads(_RECORDED.read_text())["read"]
    pinned = _pinned()
    parts = [_INTRODUCTION]
    for kind, title in _TITLES.items():
        names = sorted({each for of in read.values() for each in of if each.startswith(f"{kind} ")})
        parts.append(f"## {title}\n\n{_table(names, read, pinned)}\n")
    return "\n".join(parts)


def _table(names: Iterable[str], read: Mapping[str, list[str]], pinned: Mapping[str, str]) -> str:
    lines = ["| setting | read with tables of | in the jobs |", "| --- | --- | --- |"]
    for key in names:
        name = key.partition(" ")[2]
        lines.append(f"| `{name}` | {_formats(key, read)} | {pinned.get(name, '')} |")
    return "\n".join(lines)


def _formats(key: str, read: Mapping[str, list[str]]) -> str:
    every = list(dict.fromkeys(table.split(" ")[0] for table in read))
    found = list(dict.fromkeys(table.split(" ")[0] for table, names in read.items() if key in names))
    return "all formats" if found == every else ", ".join(found)


def _pinned() -> dict[str, str]:
    """Return what the jobs make of settings, by name, as it stands in the code."""
    found: dict[str, str] = {}
    for path, constants in _CONSTANTS.items():
        for each in ast.parse((_ROOT / path).read_text()).body:
            if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") in constants:
                found |= _shown(ast.literal_eval(each.value))
    return found


def _shown(value: Mapping[str, str] | tuple[str, ...]) -> dict[str, str]:
    if isinstance(value, tuple):
        return dict.fromkeys(value, "not set")
    return {name: f"`{text}`" if text else "empty" for name, text in value.items()}
