"""The units of a native table with their health, from the sizes of its files."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules.health import Health, Thresholds, assess
from spark_jobs.core.rules.strategy import AUTO, FULL
from spark_jobs.core.values.model import FileEntry, FileListing, Spec, Unit, name_of
from spark_jobs.protocol.native_ports import DataFile


def by_unit(files: Iterable[DataFile]) -> dict[Spec, list[DataFile]]:
    """Return the files of each unit."""
    found: dict[Spec, list[DataFile]] = {}
    for file in files:
        found.setdefault(file.unit, []).append(file)
    return found


def listing(files: Iterable[DataFile]) -> FileListing:
    """Return files as a listing; their paths are their names, since they may lie in several directories."""
    return FileListing.of(FileEntry(name_of(f.path), f.length, f.written) for f in files)


def plan_of(spec: Spec, files: Sequence[DataFile], thresholds: Thresholds) -> UnitPlan:
    """Return the plan of one unit, which is flagged if the files of one of its groups are small."""
    return UnitPlan.listed(Unit(spec, ""), listing(files), health_of(files, thresholds))


def health_of(files: Sequence[DataFile], thresholds: Thresholds) -> Health:
    """Return the health of a unit: its groups are assessed one by one, because only their files become fewer.

    A procedure decides itself which files it leaves as they are, so that `minor` means `auto` here.
    """
    if thresholds.strategy not in (AUTO, FULL):
        thresholds = replace(thresholds, strategy=AUTO)
    groups: dict[str, list[DataFile]] = {}
    for file in files:
        groups.setdefault(file.group, []).append(file)
    healths = [assess(listing(each), thresholds) for each in groups.values()]
    if len(healths) == 1:
        return healths[0]
    flagged = [health for health in healths if health.needs_compaction]
    sizes = [file.length for file in files]
    return Health(
        files=len(sizes),
        bytes=sum(sizes),
        avg_file_size=sum(sizes) // len(sizes) if sizes else 0,
        median_file_size=int(statistics.median(sizes)) if sizes else 0,
        threshold=thresholds.small_file,
        target_files=sum(h.target_files if h.needs_compaction else h.files for h in healths),
        needs_compaction=bool(flagged),
        note=None if flagged else next((health.note for health in healths if health.note), None),
    )
