"""Which Parquet files Arrow rewrites without a difference. All others are left to Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spark_jobs.core.formats.encoding import Calendar
from spark_jobs.core.formats.footers import Profile


class Codec(NamedTuple):
    """A codec: its name for pyarrow, parquet-java's level, and what Spark has before `.parquet` in names of files."""

    name: str
    level: int | None = None
    ending: str = ""


#: The codecs that Arrow writes as Spark does.
CODECS = {
    "none": Codec("NONE"),
    "uncompressed": Codec("NONE"),
    "snappy": Codec("SNAPPY", None, ".snappy"),
    "gzip": Codec("GZIP", 6, ".gz"),
    "zstd": Codec("ZSTD", 3, ".zstd"),
}
#: The first and the last major version of pyarrow that the jobs know. Those before cannot write decimals as integers.
VERSIONS = (18, 26)
#: The largest file: it is in memory whole, in the JVM of an executor and in its Python.
LARGEST_FILE = 64 << 20
#: The largest new file, as the options ask for it: it is in the memory of a Python worker, about three times.
LARGEST_NEW_FILE = 512 << 20
#: The most files that become one: their names are a text, and Spark's reader of JSON takes 20 million characters.
MOST_FILES = 50_000
#: What Arrow writes as it was, as parquet-java's texts have it. A worker compares the schemas too, before it writes.
_TYPES = re.compile(
    r"(repeated )?("
    r"boolean|float|double"
    r"|int32( \((U?INT_(8|16|32)|INTEGER\((8|16|32),(true|false)\)|DATE|DECIMAL\(\d+,\d+\))\))?"
    r"|int64( \((U?INT_64|INTEGER\(64,(true|false)\)|DECIMAL\(\d+,\d+\)"
    r"|TIMESTAMP_(MILLIS|MICROS)|TIMESTAMP\((MILLIS|MICROS|NANOS),(true|false)\))\))?"
    r"|binary( \((STRING|UTF8)\))?"
    r"|fixed_len_byte_array\(\d+\)( \(DECIMAL\(\d+,\d+\)\))?"
    r"|group( \((LIST|MAP|MAP_KEY_VALUE)\))?"
    r")( = \d+)?\Z"
)
_TEMPORAL = re.compile(r"\((DATE|TIMESTAMP)")
#: A key that Arrow reads and never writes: it repeats the schema.
OWN_KEY = "ARROW:schema"


def obstacle(profile: Profile, options: Mapping[str, str]) -> str | None:
    """Return why files of this profile are not rewritten by Arrow; None if they are.

    Args:
        options: those of Spark's writer.
    """
    if profile.codec not in CODECS:
        return f"Arrow does not write {profile.codec} as Spark does"
    if len(profile.schemas) != 1:
        return "the files have several schemas"
    if profile.writer is None:
        return "the files have different metadata"
    if profile.blooms:
        return "the files have Bloom filters"
    if options:
        return f"the table or the files ask for {', '.join(sorted(options)[:3])}"
    return _other_type(profile.leaves) or _unknown_calendar(profile)


def lack_of(versions: Sequence[str]) -> str | None:
    """Return why pyarrow of these versions, one for each executor that has another, is not used; None if it is."""
    if len(versions) != 1:  # guard: one_pyarrow
        return f"the executors have pyarrow of several versions: {', '.join(versions)}"
    first, last = VERSIONS
    if not first <= int(versions[0].partition(".")[0]) <= last:
        return f"the executors have pyarrow {versions[0]}, and not one of {first} to {last}"
    return None


def file_name(name: str, codec: str) -> str:
    """Return the name of a file that was written as text, as Spark names Parquet files of this codec."""
    stem = name.removesuffix(".txt")
    return name if stem == name else f"{stem}{CODECS[codec].ending}.parquet"


def _other_type(leaves: Mapping[str, str]) -> str | None:
    for path, kind in leaves.items():
        if not _TYPES.match(kind):  # guard: arrow_types
            return f"column '{path}' is {kind}"
    return None


def _unknown_calendar(profile: Profile) -> str | None:
    """Return that nothing says which calendar the files have: later jobs would believe Arrow's name, and take its own.

    Spark fails on the first date for which it matters.
    """
    dated = any(_TEMPORAL.search(kind) for kind in profile.leaves.values())
    if dated and profile.calendar is Calendar.UNKNOWN:  # guard: arrow_calendar
        return "the files do not say which calendar their dates have"
    return None
