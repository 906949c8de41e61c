"""Avro files by fastavro, in an environment that has it.

`PYTHON -m tests.fidelity.foreign.avro_python write FOLDER`, or `... read FILE...`, which prints what the files hold.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import fastavro
from fastavro.write import Writer

from tests.fidelity.foreign.avro_units import UNITS, File


def write(path: Path, file: File) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        writer = Writer(target, file.schema, codec=file.codec or "null", metadata=dict(file.metadata))
        for place, record in enumerate(file.records(), 1):
            writer.write(record)
            if not place % file.block:
                writer.flush()
        writer.flush()


def contents(path: Path) -> tuple[Any, dict[str, str], list[str]]:
    """The schema of a file, its other metadata, and its records as text."""
    with path.open("rb") as source:
        reader = fastavro.reader(source)
        metadata = dict(reader.metadata)
        return json.loads(metadata.pop("avro.schema")), metadata, [repr(record) for record in reader]


def main(action: str, *arguments: str) -> None:
    """Write the files of each unit into a directory of its own; or print what files hold, as JSON."""
    if action == "read":
        print(json.dumps([contents(Path(name)) for name in arguments]))
        return
    for unit, files in UNITS.items():
        for place, file in enumerate(files):
            write(Path(arguments[0]) / unit.replace(" ", "_") / f"{place}.avro", file)


if __name__ == "__main__":
    main(*sys.argv[1:])
