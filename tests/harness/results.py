"""The results of `make test-all`, suite by suite, so that a run that was stopped can be resumed on the same commit."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from demo.services import paths
from tests.harness.outcome import Outcome
from tests.harness.resources import Usage


class CannotResume(Exception):
    """There is nothing to resume here; the message says why."""


class Results:
    """A JSON file: the commit, and what each suite took that has passed on it. Their reports lie beside it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._commit: str | None = None
        self._passed: dict[str, Usage] = {}

    def begin(self) -> None:
        """Forget what an earlier run left."""
        self._commit, self._passed = commit(), {}
        self._write()

    def resume(self) -> dict[str, Usage]:
        """Return what the suites took that have passed already, by name.

        Raises:
            CannotResume: no run was begun, it was on another commit, or the checkout has changes.
        """
        if not self._file.exists():
            raise CannotResume("no run of `make test-all` was begun here; start one without RESUME=1")
        found, here = json.loads(self._file.read_text()), commit()
        if here is None and _git("rev-parse", "HEAD") is None:
            raise CannotResume("git does not tell which commit this is; start a run without RESUME=1")
        if here is None:
            raise CannotResume(
                "the checkout has changes, and what passed was not tested with them: commit them first"
            )
        if found["commit"] is None:
            raise CannotResume("the run was begun where nothing says which commit it tested: start one anew")
        if found["commit"] != here:
            raise CannotResume(f"what passed is of commit {found['commit']}, and this is {here}")
        self._commit = here
        self._passed = {name: Usage(**usage) for name, usage in found["passed"].items()}
        return dict(self._passed)

    def add(self, outcome: Outcome) -> None:
        """Keep a suite that passed; one that failed, or under which the checkout has changed, runs again."""
        unchanged = self._commit is not None and commit() == self._commit
        if unchanged and not outcome.failed and not outcome.missed:
            self._passed[outcome.name] = outcome.usage
            self._write()

    def _write(self) -> None:
        kept = {
            "commit": self._commit,
            "passed": {name: asdict(usage) for name, usage in self._passed.items()},
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(kept, indent=1))


def commit() -> str | None:
    """The commit that is checked out; None where files differ from it, or git does not tell."""
    changes = _git("status", "--porcelain")
    return _git("rev-parse", "HEAD") if changes == "" else None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=paths.ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
