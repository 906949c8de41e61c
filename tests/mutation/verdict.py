"""What a run of pytest says of a mutation: only a test that failed for the right reason has killed it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

#: A mutated line that is no Python any more makes every test fail; what fails like this proves nothing.
_BROKEN = re.compile(
    r"\b(?:NameError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError|UnboundLocalError|"
    r"AttributeError|TypeError)\b: .*"
)


@dataclass(frozen=True)
class Verdict:
    """The tests of one run, by `path::name`; `output` is what pytest printed."""

    passed: frozenset[str]
    failed: frozenset[str]
    errors: frozenset[str]
    output: str

    @classmethod
    def read(cls, junit: Path, output: str) -> Verdict:
        """A run without a report has not run."""
        found: dict[str, set[str]] = {"passed": set(), "failure": set(), "error": set(), "skipped": set()}
        for case in ElementTree.parse(junit).iter("testcase") if junit.exists() else ():
            kinds = [child.tag for child in case if child.tag in found] or ["passed"]
            for kind in kinds:
                found[kind].add(f"{case.get('classname')}.{case.get('name')}")
        return cls(frozenset(found["passed"]), frozenset(found["failure"]), frozenset(found["error"]), output)

    def complaint_as_baseline(self, node_id: str) -> str | None:
        """Why a test cannot be trusted to tell a mutation: unmutated, it must pass."""
        name = dotted(node_id)
        bad = [test for test in self.failed | self.errors if _covers(name, test)]
        if bad:
            return f"{bad[0]} fails without any mutation:\n{self.output[-3000:]}"
        if not any(_covers(name, test) for test in self.passed):
            return f"{node_id} did not run:\n{self.output[-3000:]}"
        return None

    def complaint_as_mutation(self) -> str | None:
        """Why this run does not show that the guard is covered."""
        if self.errors:
            return f"the tests could not run without the guard ({min(self.errors)}):\n{self.output[-3000:]}"
        if not self.failed:
            return f"no test fails without the guard:\n{self.output[-1000:]}"
        broken = _BROKEN.search(self.output)
        if broken:
            return f"the mutation breaks the program instead of removing a guard: {broken[0]}"
        return None


def dotted(node_id: str) -> str:
    """A node id as junit has it: `tests/a/test_b.py::C::d[e]` is `tests.a.test_b.C.d[e]`."""
    path, *names = node_id.split("::")
    return ".".join([path.removesuffix(".py").replace("/", "."), *names])


def _covers(name: str, test: str) -> bool:
    return test == name or test.startswith((f"{name}[", f"{name}."))
