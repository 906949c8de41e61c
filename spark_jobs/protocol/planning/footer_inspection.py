"""The inspection of the footers of a unit's files: can they be rewritten without a change of the data, and how?"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.eligibility import positional
from spark_jobs.core.errors import LakekeeperError, Refusal
from spark_jobs.core.formats import footers
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.model import FileListing
from spark_jobs.core.plan import TablePlan, UnitPlan
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class Inspection:
    """The properties of a unit's files, and how they are rewritten."""

    profile: Profile
    encoding: Encoding


def inspect(services: Services, table: TablePlan, location: str, files: FileListing) -> Inspection:
    """Read the footers of all files of a unit.

    Raises:
        Refusal: the unit cannot be rewritten without a change of its data.
        OSError: a footer cannot be read.
    """
    found = read_footers(services, table, location, files)
    if not found:
        raise Refusal(RefusalCode.EMPTY, f"{location} holds only empty files")
    columns = [name for name, _ in table.facts.columns]
    profile = footers.profile(found, _declared_codec(table), table.file_format, columns)
    _check_positions(table, found, profile)
    return Inspection(profile, services.rewriter.encoding(profile, table.file_format))


def _check_positions(table: TablePlan, found: Sequence[Footer], profile: Profile) -> None:
    """Raise Refusal if columns are matched by position and differ between files."""
    nameless = any(FORMATS[table.file_format].by_position(footer.leaves) for footer in found)
    if (positional(table.facts) or nameless) and not profile.uniform:  # guard: columns_by_position
        raise Refusal(
            RefusalCode.POSITIONAL,
            f"{table.facts.name} matches columns by position, and its files differ in schema",
        )


def read_footers(services: Services, table: TablePlan, location: str, listing: FileListing) -> list[Footer]:
    """Return the footers of the files that are not empty."""
    files = [f"{location}/{f.name}" for f in listing.data if f.length]  # guard: empty_files_not_read
    return services.footers.read(files, table.file_format)


def _declared_codec(table: TablePlan) -> str | None:
    return table.facts.properties.get(FORMATS[table.file_format].codec_property or "")


def check_footers(services: Services, table: TablePlan) -> list[UnitPlan]:
    """Return the units. Those that cannot be rewritten without a change of their data are refused."""
    with services.pool(table.options.parallelism) as pool:
        return list(pool.map(lambda unit: _check_unit(services, table, unit), table.units))


def _check_unit(services: Services, table: TablePlan, unit: UnitPlan) -> UnitPlan:
    """Return the unit, refused if it has to be. A footer that cannot be read is reported by the compaction."""
    if unit.due is None:
        return unit
    try:
        inspect(services, table, unit.unit.location, unit.due.files)
    except Refusal as refusal:
        return unit.refused(refusal)
    except (OSError, LakekeeperError) as error:
        log.warning("the footers of %s cannot be read: %s", unit.unit, error)
    return unit
