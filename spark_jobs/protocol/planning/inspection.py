"""What the footers of a unit's files say, as a value: the groups of files that are written with one schema."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from spark_jobs.core.formats import footer_keys, struct_types
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Profile
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.planning.task_plan import TaskPlan, plan_tasks
from spark_jobs.core.rules.health import Thresholds, assess
from spark_jobs.core.rules.strategy import FULL
from spark_jobs.core.values.model import FileListing


@dataclass(frozen=True)
class FileGroup:
    """Files of a unit that are written with one schema: their properties, and how they are rewritten.

    Attributes:
        number: the number of the group among all groups of the unit's files, from 0.
    """

    files: FileListing
    profile: Profile
    encoding: Encoding
    number: int = 0

    def target_files(self, thresholds: Thresholds) -> int:
        """Return the number of files to write, if all files of the group are rewritten."""
        return assess(self.files, replace(thresholds, strategy=FULL)).target_files

    def without(self, names: Collection[str]) -> FileGroup:
        """Return the group without the files of these names."""
        return replace(self, files=FileListing.of(f for f in self.files.data if f.name not in names))

    def tasks(self, thresholds: Thresholds, slots: int) -> TaskPlan:
        """Return how the tasks of Spark share the rewrite. Only Spark's own engine can shuffle rows."""
        figures, target_files = self.files, self.target_files(thresholds)
        if self.encoding.engine is not Engine.SPARK:
            return TaskPlan(target_files, target_files)
        return plan_tasks(len(figures.data), figures.bytes, target_files, slots)

    @property
    def unkept(self) -> tuple[str, ...]:
        """Return warnings about metadata of footers that the rewritten files will not have. Some engines keep all."""
        keys = self.profile.unkept
        if not keys or self.encoding.engine in (Engine.MERGE, Engine.ARROW):
            return ()
        return (WarningCode.METADATA_NOT_KEPT.text(footer_keys.warning(keys)),)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names of its files."""
        return frozenset(file.name for file in self.files.data)

    @property
    def columns(self) -> frozenset[str] | None:
        """Return the names of the columns in lower case; None if Spark cannot read them."""
        return struct_types.names(self.profile.struct) if self.profile.struct else None


@dataclass(frozen=True)
class Inspection:
    """The groups of the files of a unit that are rewritten.

    Attributes:
        several: the files of the unit have several schemas, those that are copied included.
        by_kept_footers: an analysis has read them, and not all of them are read now.
        copied: the groups of the files that are copied; none if all files are rewritten.
        without_rows: the names of files without rows, which are in no group.
        not_arrow: why Arrow does not write it, although the options ask for it.
    """

    groups: tuple[FileGroup, ...]
    several: bool = False
    by_kept_footers: bool = False
    copied: tuple[FileGroup, ...] = ()
    without_rows: frozenset[str] = frozenset()
    not_arrow: str | None = None

    @property
    def by_arrow(self) -> bool:
        """Tell whether Arrow writes it. Where all files with rows stay as they are, there is nothing to write."""
        return any(group.encoding.engine is Engine.ARROW for group in self.groups)

    def written_by(self, engine: Engine) -> Inspection:
        """Return the inspection with another engine for its groups. Arrow's encodings also have Spark's settings."""
        encodings = [(group, replace(group.encoding, engine=engine)) for group in self.groups]
        return replace(self, groups=tuple(replace(group, encoding=each) for group, each in encodings))

    @property
    def engines(self) -> str:
        """Return what writes the groups, for example `spark`, or `copy+spark`."""
        return "+".join(sorted({group.encoding.engine.value for group in self.groups}))

    @property
    def unkept(self) -> tuple[str, ...]:
        """Return warnings about metadata of footers that the rewritten files will not have."""
        return tuple(dict.fromkeys(text for group in self.groups for text in group.unkept))

    @property
    def codec(self) -> str:
        """Return the codec that most bytes are compressed with."""
        parts = (*self.groups, *self.copied)
        return max(parts, key=lambda group: group.files.bytes).profile.codec
