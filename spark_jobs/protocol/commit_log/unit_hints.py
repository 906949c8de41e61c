"""What jobs know of some units of a table beside its journals: `<home>/log/survey/<name>-<number>`. It is a hint."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, TypeVar

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.planning.survey import SurveyedUnits, decode_survey, encode_survey
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records import open_units
from spark_jobs.core.records.open_units import OpenUnit
from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.core.records.snapshots import BrokenLog, readable
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.commit_log.hint_directories import ensure_hint_directory
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust

log = logging.getLogger("lakekeeper")

T = TypeVar("T")
Store = TypeVar("Store", bound="UnitHints")  # type: ignore[type-arg]


class UnitHints(ABC, Generic[T]):
    """The file of one name in the home of a table: a value for each of some units, by key.

    Jobs write it without a lease, so that a note may be lost where two of them write at once.
    """

    #: The name of the file, and what jobs do not know if it cannot be written, for their log.
    name: str
    without: str

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._fs = fs
        self._file = NumberedHint(fs, home, trust, self.name)

    @classmethod
    def of(cls: type[Store], fs: RecordFiles, facts: TableFacts, trust: Trust) -> Store:
        return cls(fs, Home.of_table(facts.storage.location, bool(facts.partition_keys)).path, trust)

    @abstractmethod
    def encode(self, values: Mapping[str, T]) -> bytes:
        """Return the content of the file."""

    @abstractmethod
    def decode(self, data: bytes, name: str) -> Mapping[str, T]:
        """Decode the content of the file `name`. Raise one of `DECODING_ERRORS` if it is none, and OtherVersion."""

    def read(self) -> Mapping[str, T]:
        """Return the values; none if the file cannot be read, or if another account wrote it. Raise OtherVersion."""
        try:
            body = self._file.read()
            return readable(body[0], lambda: self.decode(body[1], body[0])) if body else {}
        except (BrokenLog, OSError):
            return {}

    def update(
        self,
        change: Callable[[Mapping[str, T]], Mapping[str, T]],
        units: Collection[str],
        *,
        worth_a_home: bool,
    ) -> None:
        """Write what has become of the values, if they have changed. Never raise.

        Args:
            units: the keys of all units of the table. A partition that was dropped is forgotten: one of the same values
                that is created later is another one.
            worth_a_home: the home of the table may be created for it.
        """
        try:
            before = self.read()
            after = {key: value for key, value in change(before).items() if key in units}
            if after != before and ensure_hint_directory(
                self._fs, self._file.directory, worth_a_home=worth_a_home
            ):
                self._file.publish(self.encode(after))
        except Exception as error:
            log.info("%s (%s)", self.without, error)


class AnalysisStore:
    """The survey of analyses in one home."""

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._file = NumberedHint(fs, home, trust, "analysis")
        self.directory = self._file.directory
        self._read: SurveyedUnits | None = None

    def read(self) -> SurveyedUnits:
        """Return the survey; empty if there is none that can be read, or if another account wrote it."""
        if self._read is None:
            try:
                body = self._file.read()
                self._read = decode_survey(body[1], body[0]) if body else {}
            except (BrokenLog, OSError):
                self._read = {}
        return self._read

    def publish(self, survey: SurveyedUnits) -> None:
        """Write a survey into the directory, which exists. Then delete earlier ones.

        Raises:
            OSError: it is not known whether the file is there.
            Refusal: NUMBER_TOO_HIGH, no number is left.
        """
        self._file.publish(encode_survey(survey))


class OpenStore(UnitHints[OpenUnit]):
    """The open units of one table, by key."""

    name = "open"
    without = "which units are left undone could not be noted"

    def encode(self, values: Mapping[str, OpenUnit]) -> bytes:
        return open_units.encode(values)

    def decode(self, data: bytes, name: str) -> Mapping[str, OpenUnit]:
        return open_units.decode(data, name)

    def note_analysis(self, plans: Iterable[UnitPlan], units: Collection[str], now: str) -> None:
        """Remember which units an analysis has found. Never raise.

        It does not create the home of a table: an analysis of a table that nobody compacts leaves nothing in it.

        Args:
            units: the keys of all units of the table.
            now: ISO 8601, UTC.
        """
        plans = list(plans)
        now_open = {plan.unit.key for plan in plans if plan.is_open}
        ended = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
        self.update(
            lambda before: open_units.analysed(before, now_open, ended, now), units, worth_a_home=False
        )


class DeferredStore(UnitHints[str]):
    """The deferred units of one table, by key, with the time at which each was deferred first (ISO 8601)."""

    name = "deferred"
    without = "the next job takes the deferred units in its own order: they could not be noted"

    def encode(self, values: Mapping[str, str]) -> bytes:
        return packed({"deferred": dict(values)})

    def decode(self, data: bytes, name: str) -> Mapping[str, str]:
        return {str(key): str(at) for key, at in unpacked(data, name)["deferred"].items()}

    def note(
        self,
        deferred: Collection[str],
        ended: Collection[str],
        had_turn: Collection[str],
        units: Collection[str],
        now: str,
    ) -> None:
        """Remember the units that were deferred, and forget those whose compaction has ended. Never raise.

        Args:
            had_turn: those that have failed. They count as deferred now: a unit that was first in each job, and failed
                alone as a canary, would keep all others from being compacted.
            units: the keys of all units of the table.
            now: ISO 8601, UTC.
        """

        def changed(before: Mapping[str, str]) -> Mapping[str, str]:
            since = {key: now if key in had_turn else at for key, at in before.items() if key not in ended}
            return {**since, **{key: before.get(key, now) for key in deferred}}

        self.update(changed, units, worth_a_home=True)
