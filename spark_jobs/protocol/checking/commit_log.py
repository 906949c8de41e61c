"""The files of the commit log: each one that a snapshot names can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from spark_jobs.core.commit_log.snapshots import BrokenLog, Snapshot
from spark_jobs.core.damage import DamageCode, Finding
from spark_jobs.core.layout import Home
from spark_jobs.protocol.checking.scope import Scope, quoted
from spark_jobs.protocol.commit_log.store import FOLDER, CommitLog


class CheckedLog(CommitLog):
    """A commit log whose files are all read, each one once."""

    def problems(self) -> Iterator[str]:
        """Return a sentence for each part of the log that cannot be read."""
        manifests: dict[str, Any] = {}
        for number in sorted(self._numbers()):
            try:
                manifests.update((meta.name, meta) for meta in self._named_by(self._snapshot(number)))
            except (BrokenLog, OSError) as error:
                yield f"snapshot {number}: {error}"
        for meta in manifests.values():
            yield from _problem(lambda meta=meta: self._entries([meta]))  # type: ignore[misc]
        yield from _problem(self.survey)

    def _named_by(self, snapshot: Snapshot) -> list[Any]:
        return list(self.standing(snapshot))


def _problem(read: Callable[[], object]) -> Iterator[str]:
    try:
        read()
    except (BrokenLog, OSError) as error:
        yield str(error)


def check_log(scope: Scope) -> Iterator[Finding]:
    """Check the commit log in the table's own home."""
    facts, services = scope.table.facts, scope.services
    home = Home.of_table(facts.storage.location, bool(facts.partition_keys)).path
    folder = f"{home}/{FOLDER}"
    try:
        problems = list(dict.fromkeys(CheckedLog(services.fs, home, services.now).problems()))
    except OSError as error:
        problems = [str(error)]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        text = f"the commit log cannot be read: {problems[0]}{more}; it is derived from the journals again"
        yield Finding(DamageCode.LOG_UNREADABLE, folder, text, f"hdfs dfs -rm -r {quoted(folder)}")
