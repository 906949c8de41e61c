"""The commit log: each file that a snapshot names can be read, and says of the runs what their journals say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.core.messages.remedies import hdfs
from spark_jobs.core.records.change import changes_of, contradicts
from spark_jobs.core.records.journal import RunState, UnitState
from spark_jobs.core.records.snapshots import BrokenLog, ManifestMeta, Token
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.checking.scope import Scope
from spark_jobs.protocol.commit_log.store import DIRECTORY, CommitLog
from spark_jobs.protocol.commit_log.unit_hints import AnalysisStore, DeferredStore, OpenStore
from spark_jobs.protocol.runs.trust import Trust

#: By run id, unit key and path of the originals, which tells the swaps of a run apart.
Units = Mapping[tuple[str, str, str], UnitState]


class CheckedLog(CommitLog):
    """A commit log whose files are all read, each one once.

    Attributes:
        unreadable: a sentence for each part of the log that cannot be read.
        contradictions: a sentence for each change that differs from the journals.
        changes: those that are in the log.
    """

    def compare(self, units: Units) -> None:
        """Read all files of the log, and compare its changes with these units of the journals."""
        self.unreadable: list[str] = []
        self.contradictions: list[str] = []
        self.changes: set[Token] = set()
        self._read: set[str] = set()
        bases: dict[str, ManifestMeta] = {}
        for number in sorted(self._files.numbers()):
            self._try(lambda number=number: self._compare(number, units, bases))  # type: ignore[misc]
        # The manifests of a snapshot are in the bases of later ones, until they are merged.
        for meta in bases.values():
            if meta.name not in self._read:
                self._try(lambda meta=meta: self._entries([meta]))  # type: ignore[misc]
        self._try(self.survey)
        self._try(lambda: self._files.read_rows(self.latest()))

    def _try(self, read: Callable[[], object]) -> None:
        try:
            read()
        except (BrokenLog, OSError) as error:
            self.unreadable.append(str(error))

    def _compare(self, number: int, units: Units, bases: dict[str, ManifestMeta]) -> None:
        snapshot = self._snapshot_if_there(number)
        if snapshot is None:
            return  # A job has deleted it since the numbers were listed: its run is settled.
        self.changes |= self._tokens([snapshot])
        bases.update((meta.name, meta) for meta in self._list(snapshot.base).manifests)
        delta = self._list(snapshot.delta)
        self._read |= {meta.name for meta in delta.manifests}
        entries = self._entries(delta.manifests)
        for change in delta.units:
            unit = units.get((snapshot.run_id, change.unit, change.old))
            if unit is not None and contradicts(snapshot.kind, change, entries, unit):
                self.contradictions.append(
                    f"snapshot {number} has a {snapshot.kind} of run {snapshot.run_id} that differs from the journal"
                    f" ({unit.swap.live})"
                )


def check_log(scope: Scope) -> Iterator[Finding]:
    """Check the commit log in the table's own home."""
    facts, services = scope.table.facts, scope.services
    root = facts.storage.location
    home = Home.of_table(root, bool(facts.partition_keys)).path
    trust = Trust(services.fs, root, scope.table.options.trusted_owners)
    directory, log = f"{home}/{DIRECTORY}", CheckedLog(services.fs, home, services.now, trust)
    command = hdfs.delete(directory)
    try:
        log.compare(_units(scope))
        # Of hints only those of another version are a finding: an analysis writes others anew.
        for hints in (AnalysisStore, OpenStore, DeferredStore):
            hints(services.fs, home, trust).read()
    except OtherVersion as error:
        yield Finding(DamageCode.OTHER_VERSION, directory, str(error))
        return
    except OSError as error:
        yield Finding(DamageCode.NOT_CHECKED, directory, f"the commit log could not be looked at: {error}")
        return
    if log.unreadable:
        text = (
            f"the commit log cannot be read: {_first(log.unreadable)}; it is derived from the journals again"
        )
        yield Finding(DamageCode.LOG_UNREADABLE, directory, text, command)
    if log.contradictions:
        text = f"the commit log contradicts the journals: {_first(log.contradictions)}; the journals count"
        yield Finding(DamageCode.LOG_INCONSISTENT, directory, text, command)
    if log.unreadable or log.contradictions or not log.changes:
        return  # It has to be deleted, or was: then the history of earlier runs comes from their journals.
    lacking = _lacking(scope, log.changes)
    if lacking:
        text = f"the commit log lacks changes of these runs: {', '.join(lacking)}; the history has them by the journals"
        yield Finding(DamageCode.LOG_INCONSISTENT, directory, text, only_notice=True)


def _first(problems: list[str]) -> str:
    different = list(dict.fromkeys(problems))
    return different[0] + (f" (and {len(different) - 1} more)" if len(different) > 1 else "")


def _units(scope: Scope) -> Units:
    states = ((each.run.run_id, each.state) for each in scope.units)
    return {(run_id, unit.swap.unit.key, unit.swap.old): unit for run_id, unit in states}


def _lacking(scope: Scope, logged: set[Token]) -> list[str]:
    """Return the ids of ended runs of which the log lacks a change. A job publishes a run after it has ended it."""
    states: dict[str, list[RunState]] = {}
    for run in scope.runs:
        states.setdefault(run.run_id, []).append(run.state)
    ended = {run_id: of_run for run_id, of_run in states.items() if not any(s.unfinished for s in of_run)}
    return [
        run_id
        for run_id, of_run in ended.items()
        if any(change.without(logged).units for change in changes_of(run_id, of_run))
    ]
