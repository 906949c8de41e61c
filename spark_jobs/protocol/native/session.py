"""The session of one verb on one native table: its lease, its history, and the end of killed runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.records.held import Held
from spark_jobs.core.rules.eligibility import TableFacts, check_place
from spark_jobs.core.rules.health import Thresholds
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.native.runs import NativeHistory, NativeRun, settle
from spark_jobs.protocol.native_ports import NativeTable
from spark_jobs.protocol.runs.lease import LeaseOptions, LeaseSet
from spark_jobs.protocol.services import Services

_ENABLED = "lakekeeper.enabled"
#: The files of so many commits are listed at most: each list may be long, and names of commits are cheap.
_MOST_COMMITS = 50


@dataclass(frozen=True)
class NativeSession:
    """One native table, and what a verb needs to work on it.

    Attributes:
        format: the name of the format.
        facts: those of the metastore, with the keys of its units as partition keys.
    """

    services: Services
    format: str
    facts: TableFacts
    options: Options
    table: NativeTable
    notes: list[str] = field(default_factory=list)
    _leases: list[LeaseSet] = field(default_factory=list)

    @contextmanager
    def leased(self, lease_options: LeaseOptions) -> Iterator[NativeHistory]:
        """Take the lease of the table, end killed runs, and return the history: what was read before is outdated.

        The format itself decides between two writers. The lease keeps two jobs from naming commits at the same time.
        """
        with LeaseSet(self.services, lease_options) as leases:
            leases.take([self.home])
            self._leases.append(leases)
            yield settle(self.table, NativeHistory.of(self.table))

    @property
    def thresholds(self) -> Thresholds:
        """Return the limits for small files. Without an option, the target is the size that the table asks for."""
        limits = self.options.thresholds()
        if limits.target_file_size:
            return limits
        return replace(limits, target_file_size=self.table.target_file_size())

    @property
    def home(self) -> str:
        """Return the hidden directory beside the table, which has the lease only."""
        return Home.of_table(self.facts.storage.location, partitioned=False).path

    def check_lease(self) -> None:
        """Raise LeaseLost if another job has taken the table over: called right before each change."""
        for leases in self._leases:
            leases.check()  # guard: lease_before_each_change

    def held(self, history: NativeHistory) -> Held:
        """Return the runs that can be rolled back, and the bytes that the format keeps for all runs."""
        possible = [run for run in history.runs if history.can_be_rolled_back(run)]
        at = {commit.id: commit.at for commit in history.commits}
        since = min((at[run.before] for run in possible), default=None)
        return Held(frozenset(run.run_id for run in possible), self.kept_bytes(history.runs), since)

    def kept_bytes(self, runs: Sequence[NativeRun]) -> int:
        """Return the bytes of the files that only the commits before these runs have; of very many, the newest ones."""
        if not runs:
            return 0
        now = {file.path for file in self.table.files()}
        commits = list(dict.fromkeys(run.before for run in runs))[-_MOST_COMMITS:]
        old = {file.path: file.length for commit in commits for file in self.table.files(commit)}
        return sum(length for path, length in old.items() if path not in now)


def open_session(services: Services, format_name: str, facts: TableFacts, options: Options) -> NativeSession:
    """Return the session of a table.

    Raises:
        Refusal: NO_CATALOG, the session of Spark cannot work on the table; FORMAT_FEATURE; OPTED_OUT; OBJECT_STORE.
    """
    if not options.enabled:
        raise Refusal(RefusalCode.OPTED_OUT, f"{facts.name} is opted out by {_ENABLED}=false")
    check_place(facts.storage.location)
    native = services.native.get(format_name)
    lacks = native.lacks() if native else f"this version cannot work on {format_name} tables"
    if native is None or lacks is not None:
        raise Refusal(RefusalCode.NO_CATALOG, f"{facts.name} is of the format {format_name}: {lacks}")
    table = native.table(facts)
    if (table.property(_ENABLED) or "").strip().lower() == "false":  # guard: opted_out_by_the_format
        raise Refusal(RefusalCode.OPTED_OUT, f"{facts.name} is opted out by {_ENABLED}=false")
    feature = table.unsupported()
    if feature is not None:
        raise Refusal(RefusalCode.FORMAT_FEATURE, f"{facts.name}: {feature}")
    keys = table.keys()
    facts = replace(facts, partition_keys=tuple(keys), partition_types=tuple(keys.values()))
    return NativeSession(services, format_name, facts, options, table)
