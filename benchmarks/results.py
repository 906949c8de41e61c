"""Keep what was measured: one JSON file for each case, written after each step, so that a run can be resumed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measuring import Measured
from demo.services import paths

#: What the measured programs consist of. Results of other sources are not continued.
_SOURCES = ("spark_jobs",)


@dataclass(frozen=True)
class Result:
    """One step of one round.

    Attributes:
        step: its name.
        number: the round, from 1.
        measured: what the whole process took.
        figures: what else was found: files, calls, seconds of parts. Phases of a job's report are in `phases`.
    """

    step: str
    number: int
    measured: Measured
    figures: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        return cls(**{**data, "measured": Measured(**data["measured"])})


@dataclass
class Results:
    """All results of one case; `facts` describes its tables, `context` machine and versions."""

    case: str
    code: str
    context: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)

    def find(self, step: str, number: int) -> Result | None:
        return next((r for r in self.results if (r.step, r.number) == (step, number)), None)

    def of(self, step: str) -> list[Result]:
        return [result for result in self.results if result.step == step]

    def values(self, step: str, what: str = "wall") -> dict[int, float]:
        """Return the measured values of a step by round."""
        return {result.number: getattr(result.measured, what) for result in self.of(step)}

    def figures(self, step: str, what: str) -> dict[int, float]:
        """Return the figures of a step by round; rounds without this figure are left out."""
        return {result.number: result.figures[what] for result in self.of(step) if what in result.figures}

    def steps(self) -> list[str]:
        return list(dict.fromkeys(result.step for result in self.results))


class Store:
    """The folder with the results of all cases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, case: str) -> Results | None:
        """Return the results of a case, whichever sources they are of; None if there are none."""
        file = self._file(case)
        if not file.exists():
            return None
        data = json.loads(file.read_text())
        return Results(**{**data, "results": [Result.from_json(each) for each in data["results"]]})

    def begin(self, case: str, *, again: bool = False) -> Results:
        """Return the results to continue: none if they are of other sources, or if they are to be measured again."""
        known = self.load(case)
        code = fingerprint()
        return known if known and known.code == code and not again else Results(case, code)

    def save(self, results: Results) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        staged = self._file(results.case).with_suffix(".tmp")
        staged.write_text(json.dumps(asdict(results), indent=1) + "\n")
        staged.replace(self._file(results.case))

    def _file(self, case: str) -> Path:
        return self.folder / f"{case}.json"


def fingerprint() -> str:
    """Return a hash of the sources of the jobs."""
    digest = hashlib.sha256()
    for source in _SOURCES:
        for path in sorted((paths.ROOT / source).rglob("*.py")):
            digest.update(str(path.relative_to(paths.ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def commit() -> str:
    """Return the commit of the checkout, with `+` if files have changed since; empty without git."""
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--", *_SOURCES) else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=paths.ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
