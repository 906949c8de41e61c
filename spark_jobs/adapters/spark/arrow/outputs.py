"""The files that a job writes, and the tasks that write them.

A task in Python takes up to 0.2 s before it begins: PySpark reads the directories of all zips on its path. So there are
a few tasks for each core, and each writes several files, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.core.formats.arrow import MOST_FILES
from spark_jobs.core.planning.task_plan import balanced
from spark_jobs.core.values.model import FileEntry
from spark_jobs.protocol.ports import RewriteRequest

#: The most files of a task, which are open at once until it ends.
MOST_OUTPUTS = 32
#: The tasks of each core, for the balance.
_TASKS_PER_CORE = 2


@dataclass(frozen=True)
class Output:
    """A file to write: the number of its request, and the originals, in their order."""

    unit: int
    directory: str
    files: Sequence[FileEntry]

    @property
    def bytes(self) -> int:
        return sum(file.length for file in self.files)

    def to_json(self) -> dict[str, Any]:
        files = [{"name": file.name, "length": file.length} for file in self.files]
        return {"unit": self.unit, "directory": self.directory, "files": files}


def tasks_of(requests: Sequence[RewriteRequest], slots: int) -> list[list[Output]]:
    """Return the outputs of each task. None has two of one request: Spark would write both into one file."""
    alone: list[list[Output]] = []
    together: list[Output] = []
    for number, request in enumerate(requests):
        outputs = [Output(number, request.directory, share) for share in request.shares()]
        if len(outputs) == 1:  # guard: outputs_of_a_unit_apart
            together += outputs
        else:
            alone += [[output] for output in outputs]
    return [*alone, *_shared(together, slots)]


def _shared(outputs: Sequence[Output], slots: int) -> list[list[Output]]:
    """Return the outputs in tasks of about equal bytes, and of at most `MOST_OUTPUTS`."""
    if not outputs:
        return []
    count = min(len(outputs), max(slots * _TASKS_PER_CORE, -(-len(outputs) // (MOST_OUTPUTS // 2))))
    tasks: list[list[Output]] = [[] for _ in range(count)]
    for output, task in zip(outputs, balanced([output.bytes for output in outputs], count)):
        tasks[task].append(output)
    return [part for task in tasks for part in _parts(task)]


def _parts(task: Sequence[Output]) -> list[list[Output]]:
    """Return the outputs in tasks whose texts Spark can read (`MOST_FILES`)."""
    parts: list[list[Output]] = []
    files = 0
    for output in task:
        files += len(output.files)
        if not parts or len(parts[-1]) == MOST_OUTPUTS or files > MOST_FILES:
            parts.append([])
            files = len(output.files)
        parts[-1].append(output)
    return parts
