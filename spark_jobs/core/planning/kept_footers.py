"""What an analysis keeps of the footers of a unit, so that the compaction after it does not read all of them again.

Kept are figures: rows, bytes by codec, the largest row group, and the figures of each leaf. All else (schema, writer's
metadata, how Spark reads the columns, Bloom filters) is read again from one file of each kind, and must be as it was.
So other settings of the session cannot make a difference, and the text stays small.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.leaf_statistics import Bounds, FileStatistics, LeafStatistics
from spark_jobs.core.formats.merged_footers import kind_of
from spark_jobs.core.planning.survey import QUIET_MS
from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.core.records.snapshots import readable
from spark_jobs.core.values.model import FileListing

#: The footers of units with fewer files are read again: that takes a second, and a file for each would be one more for
#: the NameNode.
FEWEST_FILES = 500
#: Files of more kinds than that are read again.
MOST_KINDS = 10


@dataclass(frozen=True)
class KeptFooters:
    """The footers of a unit's files, as they were read.

    Attributes:
        location: the URI of the unit.
        files: the fingerprint of the listing: names, lengths, mtimes, and on HDFS the ids of the files.
        environment: the versions of the programs that read them, by which it is decided which figures are exact.
        kinds: for each kind of files, the hash of what they have in common.
        footers: for each kind, its figures. The other attributes are as of a file without columns.
    """

    location: str
    files: str
    environment: str
    kinds: Sequence[str]
    footers: Sequence[Footer]

    @classmethod
    def of(
        cls, location: str, files: FileListing, footers: Sequence[Footer], environment: str, listed_at: int
    ) -> KeptFooters | None:
        """Return what is to be kept; None if the footers are not worth it, or may change unnoticed.

        Args:
            files: the files of the footers.
            listed_at: a time before they were listed, in ms since the epoch.
        """
        recent = any(file.file_id is None and listed_at - file.mtime <= QUIET_MS for file in files.files)
        if recent or not cls.worth(len(files.files)) or len(footers) > MOST_KINDS:  # guard: quiet_files_kept
            return None
        kinds = [_hash(footer) for footer in footers]
        return cls(location, files.fingerprint, environment, kinds, list(footers))

    @staticmethod
    def worth(files: int) -> bool:
        """Tell whether the footers of this many files are kept."""
        return files >= FEWEST_FILES

    def samples(self, files: FileListing) -> FileListing:
        """Return one file of each kind."""
        first = {footer.name for footer in self.footers}
        return FileListing.of(file for file in files.files if file.name in first)

    def confirmed(self, samples: Sequence[Footer]) -> list[Footer] | None:
        """Return the footers of all files, with all but the figures from `samples`, which were read now.

        It is None if a sample is not of the kind that it was: then the file, the reader, or its settings have changed.
        """
        now = {footer.name: footer for footer in samples}
        kinds = [_hash(now[kept.name]) if kept.name in now else "" for kept in self.footers]
        if kinds != list(self.kinds):  # guard: kinds_confirmed
            return None
        return [
            replace(
                now[kept.name],
                rows=kept.rows,
                codecs=kept.codecs,
                row_group=kept.row_group,
                statistics=kept.statistics,
                unended=kept.unended,
                others=kept.others,
            )
            for kept in self.footers
        ]


def _hash(footer: Footer) -> str:
    """Return a hash of what files of one kind have in common."""
    kind = [sorted(part) if isinstance(part, frozenset) else part for part in kind_of(footer)]
    return hashlib.sha256(json.dumps(kind).encode()).hexdigest()


def encode(kept: KeptFooters) -> bytes:
    """Return the content of a file."""
    kinds = [[kind, _row(footer)] for kind, footer in zip(kept.kinds, kept.footers)]
    about = {"location": kept.location, "files": kept.files, "environment": kept.environment}
    return packed({**about, "kinds": kinds})


def decode(data: bytes, name: str) -> KeptFooters:
    """Decode the content of the file `name`. Raise BrokenLog if it is incomplete, and OtherVersion."""
    return readable(name, lambda: _decoded(unpacked(data, name)))


def _decoded(body: Mapping[str, Any]) -> KeptFooters:
    kinds, rows = [kind for kind, _ in body["kinds"]], [row for _, row in body["kinds"]]
    footers = [_footer(row) for row in rows]
    return KeptFooters(body["location"], body["files"], body["environment"], kinds, footers)


def _row(footer: Footer) -> dict[str, Any]:
    return {
        "names": footer.names,
        "rows": footer.rows,
        "codecs": dict(footer.codecs),
        "row_group": footer.row_group,
        "unended": footer.unended,
        "leaves": None if footer.statistics is None else _leaves(footer.statistics),
    }


def _footer(row: Mapping[str, Any]) -> Footer:
    first, *others = (_of_type(name, str) for name in row["names"])
    leaves = row["leaves"]
    return Footer(
        first,
        _of_type(row["rows"], int, type(None)),
        {codec: _of_type(size, int) for codec, size in row["codecs"].items()},
        {},
        {},
        row_group=_of_type(row["row_group"], int),
        statistics=None if leaves is None else {path: _leaf(figures) for path, figures in leaves.items()},
        unended=_of_type(row["unended"], int, type(None)),
        others=tuple(others),
    )


def _of_type(value: Any, *types: type) -> Any:
    """Return a value. Raise TypeError if it is of none of the types."""
    if type(value) not in types:
        raise TypeError(f"{value!r} is not expected here")
    return value


def _leaves(statistics: FileStatistics) -> dict[str, Any]:
    return {
        path: [leaf.entries, leaf.non_null, leaf.bounds and _bounds(leaf.bounds), leaf.total]
        for path, leaf in statistics.items()
    }


def _bounds(bounds: Bounds) -> list[Any]:
    return [_value(bounds.minimum), _value(bounds.maximum), bounds.truncated]


def _leaf(figures: Sequence[Any]) -> LeafStatistics:
    entries, non_null, bounds, total = figures
    counts = [_of_type(count, int, type(None)) for count in (entries, non_null, total)]
    return LeafStatistics(counts[0], counts[1], None if bounds is None else _read_bounds(*bounds), counts[2])


def _read_bounds(minimum: Any, maximum: Any, truncated: Any) -> Bounds:
    lowest = _read(minimum)
    highest = _of_type(_read(maximum), type(lowest))
    if _of_type(truncated, bool):
        _of_type(lowest, str)
    return Bounds(lowest, highest, truncated)


def _value(value: Any) -> Any:
    """Return a bound for JSON, which has no decimals, and no infinite numbers.

    Raises:
        TypeError: it is of another type.
    """
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, (str, int)):
        return value
    raise TypeError(f"a bound of type {type(value).__name__} cannot be kept")


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return float.fromhex(value["float"]) if "float" in value else Decimal(value["decimal"])
    except ArithmeticError as error:
        raise ValueError(f"{value} is no bound") from error
