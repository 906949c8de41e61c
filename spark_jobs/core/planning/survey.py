"""The figures of earlier file listings, so that an analysis does not list and read unchanged units again.

They are only used to decide whether a unit needs a compaction. They never replace a file listing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.rewriting import COUNT, HASH
from spark_jobs.core.records.record_files import built, packed, unpacked
from spark_jobs.core.records.snapshots import readable
from spark_jobs.core.rules.due import FileFigures
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.rules.health import Health, SizeFigures, Thresholds, irreducible_health, reassess
from spark_jobs.core.rules.strategy import AUTO, FULL
from spark_jobs.core.values.model import Unit

#: The time by which a directory must be older than its listing, in ms. The clocks of the driver and of the file system
#: differ, and a file that was added during the listing may not be in it.
QUIET_MS = 3_600_000


#: What a compaction finds in the values of files, and no footer tells. It holds until the files change.
OF_VALUES = frozenset(
    code.name
    for code in (
        RefusalCode.BUCKETED,
        RefusalCode.UNREADABLE,
        RefusalCode.WRONG_STATISTICS,
        RefusalCode.CALENDAR,
        RefusalCode.NAN,
        RefusalCode.TYPE,
    )
)
#: What only one way to compare values refuses.
_BY_OPTION = {RefusalCode.NAN.name: HASH, RefusalCode.WRONG_STATISTICS.name: COUNT}
#: What depends on settings and jars of the job, which nothing tells before they are asked: a codec may be added.
_BY_SETTINGS = frozenset(
    code.name for code in (RefusalCode.LENIENT, RefusalCode.TIMEZONE, RefusalCode.CODEC, RefusalCode.NOT_TEXT)
)


@dataclass(frozen=True)
class Verdict:
    """What an analysis found in the footers of a unit, or a compaction in its values: it can be rewritten, or not.

    Attributes:
        basis: a hash of what this depends on besides the files (`basis`).
        code, reason, command: the refusal's; None if the unit can be rewritten.
        replication: the first file's, for quotas; None if the listing did not have it.
    """

    basis: str
    code: str | None = None
    reason: str | None = None
    command: str | None = None
    replication: int | None = None

    @classmethod
    def of(cls, basis: str, refusal: Refusal | None, replication: int | None = None) -> Verdict | None:
        """Return the verdict; None if it may be another one next time although nothing has changed."""
        if refusal is None:
            return cls(basis, replication=replication)
        if refusal.code in _BY_SETTINGS:  # guard: verdicts_of_settings
            return None
        return cls(basis, refusal.code, refusal.reason, refusal.command)

    def holds(self, basis: str | None, verify: str) -> bool:
        """Tell whether a plan with this basis, and with this comparison of values, comes to the same verdict."""
        wanted = _BY_OPTION.get(self.code or "", verify)
        return self.basis == basis and verify == wanted  # guard: verdict_by_option

    @property
    def refusal(self) -> Refusal | None:
        if self.code is None:
            return None
        return Refusal(RefusalCode[self.code], self.reason or "", self.command)


def basis(facts: TableFacts, thresholds: Thresholds, readers: str | None, environment: str) -> str:
    """Return a hash of what the verdict on a unit depends on besides its files.

    Args:
        environment: the versions of the programs that decide.
    """
    properties = {key: value for key, value in facts.properties.items() if not _VOLATILE.match(key)}
    parts = [
        environment,
        asdict(replace(facts, properties=properties)),
        thresholds.target,
        # Values of large files are read by some strategies only, and only reading finds in them what refuses a unit.
        thresholds.strategy,
        thresholds.large_from,
        readers,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


#: Properties that Hive, Impala and Spark change with each load, and by which nothing is decided.
_VOLATILE = re.compile(
    r"(transient_lastDdlTime|numFiles|numRows|numPartitions|rawDataSize|totalSize|last_modified_(by|time)"
    r"|COLUMN_STATS_ACCURATE|impala\.(lastComputeStatsTime|events\..*)|spark\.sql\.statistics\..*)\Z"
)


@dataclass(frozen=True)
class SurveyedUnit:
    """The figures of one unit from a listing. Times are in ms since the epoch, sizes in bytes.

    Attributes:
        mtime: the directory's modification time, from the listing of its parent. It is read before the unit is listed:
            a file that is added in between makes the directory newer than this time.
        closed: no file of the unit was open for writing, as far as the file system reports it. A file that is still
            written grows without a change of its directory.
        irreducible_files: how many files a compaction would leave, if these are as many as there are; 0 if that is not
            known. The files are small, but differ in schema.
        irreducible_for: the options with which this is so.
        verdict: what an analysis found in the footers of the files, or a compaction in the files; None if they were not
            read.
        figures: None for a table without partitions, which is listed each time.
    """

    unit: str
    location: str
    mtime: int
    listed_at: int
    closed: bool
    files: int
    bytes: int
    avg_file_size: int
    median_file_size: int
    fingerprint: str
    irreducible_files: int = 0
    irreducible_for: str = ""
    verdict: Verdict | None = None
    figures: FileFigures | None = None

    @classmethod
    def of(
        cls,
        unit: Unit,
        mtime: int,
        listed_at: int,
        closed: bool,
        health: Health,
        fingerprint: str,
        figures: FileFigures | None = None,
    ) -> SurveyedUnit:
        return cls(
            unit.key,
            unit.location,
            mtime,
            listed_at,
            closed,
            health.files,
            health.bytes,
            health.avg_file_size,
            health.median_file_size,
            fingerprint,
            figures=figures,
        )

    def health(self, thresholds: Thresholds, readers: str | None = None) -> Health:
        """Return the health by these thresholds, which may have changed since the listing."""
        assessed = reassess(self._sizes, thresholds)
        if self.is_irreducible(thresholds, readers):
            return irreducible_health(assessed, self.irreducible_files)
        return assessed

    def is_irreducible(self, thresholds: Thresholds, readers: str | None = None) -> bool:
        """Tell whether it is known that a compaction with these options would leave as many files."""
        return bool(self.irreducible_files) and self.irreducible_for == _irreducible_for(thresholds, readers)

    @property
    def _sizes(self) -> SizeFigures:
        figures, sizes = self.figures, (self.files, self.bytes, self.avg_file_size, self.median_file_size)
        if figures is None:
            return SizeFigures(*sizes)
        return SizeFigures(
            *sizes, figures.small_files, figures.small_bytes, figures.large_files, figures.large_bytes
        )

    def decides(self, thresholds: Thresholds, readers: str | None = None) -> bool:
        """Tell whether the figures are enough to decide with these options, or the unit has to be listed."""
        few = self.files < max(2, thresholds.min_input_files)
        if thresholds.strategy == FULL or few or self.is_irreducible(thresholds, readers):
            return True
        figures = self.figures
        if figures is None or figures.small_below != thresholds.small_file:
            return False
        if thresholds.strategy == AUTO:
            return figures.large_from == thresholds.large_from
        return (
            figures.small_files == 0
        )  # The figures do not have the median of the files below the target size.

    def as_irreducible(self, target_files: int, thresholds: Thresholds, readers: str | None) -> SurveyedUnit:
        """Return the figures of files that a compaction cannot make fewer, as their footers have shown."""
        options = _irreducible_for(thresholds, readers)
        return replace(self, irreducible_files=target_files, irreducible_for=options)

    def judge(self, verdict: Verdict | None) -> SurveyedUnit:
        return replace(self, verdict=verdict)


def _irreducible_for(thresholds: Thresholds, readers: str | None) -> str:
    return f"{thresholds.target} {readers or ''} {thresholds.strategy} {thresholds.large_from}"


SurveyedUnits = Mapping[str, SurveyedUnit]


def usable(surveyed: SurveyedUnit, dir_mtime_now: int) -> bool:
    """Tell whether the directory is unchanged since the listing, and had not changed for an hour before it."""
    return (
        surveyed.closed and surveyed.mtime == dir_mtime_now and surveyed.listed_at - surveyed.mtime > QUIET_MS
    )


def find(survey: SurveyedUnits, unit: Unit, dir_mtime_now: int) -> SurveyedUnit | None:
    """Return the figures of a unit if they are still valid, else None. A unit with a new location is another unit."""
    surveyed = survey.get(unit.key)
    if surveyed is None or surveyed.location != unit.location or not usable(surveyed, dir_mtime_now):
        return None
    return surveyed


def known_refusal(
    survey: SurveyedUnits, unit: Unit, fingerprint: str | None, basis: str, verify: str
) -> Refusal | None:
    """Return why a unit that was listed just now was refused while it had the very same files; None if it was not."""
    surveyed = survey.get(unit.key)
    if surveyed is None or surveyed.verdict is None or surveyed.location != unit.location:
        return None
    if surveyed.fingerprint != fingerprint:  # guard: verdict_of_these_files
        return None
    return surveyed.verdict.refusal if surveyed.verdict.holds(basis, verify) else None


def merged(
    before: SurveyedUnits, seen: Iterable[SurveyedUnit], units: Collection[str]
) -> dict[str, SurveyedUnit]:
    """Return the survey with the figures in `seen`, without the units that the table does not have any more."""
    now = {**before, **{surveyed.unit: surveyed for surveyed in seen}}
    return {key: surveyed for key, surveyed in now.items() if key in units}


def encode_survey(units: SurveyedUnits) -> bytes:
    """Return the content of a file."""
    return packed({"units": [_row(surveyed) for surveyed in units.values()]})


def _row(surveyed: SurveyedUnit) -> dict[str, Any]:
    # A table may have 50,000 units: `asdict` would copy each field.
    verdict, figures = (
        surveyed.verdict and vars(surveyed.verdict),
        surveyed.figures and vars(surveyed.figures),
    )
    return {**vars(surveyed), "verdict": verdict, "figures": figures}


def decode_survey(data: bytes, name: str) -> dict[str, SurveyedUnit]:
    """Decode the content of the file `name`. Raise BrokenLog if it is incomplete, and OtherVersion."""
    rows = readable(name, lambda: [_surveyed(row) for row in unpacked(data, name)["units"]])
    return {surveyed.unit: surveyed for surveyed in rows}


def _surveyed(row: Mapping[str, Any]) -> SurveyedUnit:
    verdict, figures = row["verdict"], row["figures"]
    return built(
        SurveyedUnit,
        {
            **row,
            "verdict": None if verdict is None else _verdict(verdict),
            "figures": None if figures is None else built(FileFigures, figures),
        },
    )


def _verdict(row: Mapping[str, Any]) -> Verdict:
    """Decode a verdict. Raise KeyError for a code that this version does not know."""
    verdict = built(Verdict, row)
    return verdict if verdict.code is None else replace(verdict, code=RefusalCode[verdict.code].name)
