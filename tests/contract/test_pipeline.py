"""The pipeline for a public forge runs nothing that cannot be run here: its steps are targets of the Makefile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from demo.services import paths, pythons

WORKFLOW = yaml.safe_load((paths.ROOT / ".github/workflows/tests.yml").read_text())
TARGETS = set(re.findall(r"^([a-z-]+):", (paths.ROOT / "Makefile").read_text(), re.MULTILINE))
_MATRIX = re.compile(r"\$\{\{ matrix\.(\w+) \}\}")


def _commands(job: dict[str, Any]) -> Iterator[str]:
    """Return the commands of a job, with each value of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    for step in job["steps"]:
        command = step.get("run", "")
        names = _MATRIX.findall(command)
        for value in matrix[names[0]] if names else [""]:
            if command:
                yield _MATRIX.sub(value, command)


@pytest.mark.parametrize("name", WORKFLOW["jobs"])
def test_each_step_is_a_target_of_the_makefile(name: str) -> None:
    commands = list(_commands(WORKFLOW["jobs"][name]))
    assert commands
    for command in commands:
        make = re.fullmatch(r"make ([a-z-]+)", command)
        assert (make and make[1] in TARGETS) or command == "bash .ci/install-packages", command


def test_the_unit_tests_run_on_each_supported_python() -> None:
    matrix = WORKFLOW["jobs"]["unit"]["strategy"]["matrix"]["python"]
    assert sorted(matrix) == sorted(map(pythons.dotted, pythons.VERSIONS))
