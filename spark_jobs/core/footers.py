"""What the footers of a unit's files say, and what a faithful rewrite must keep. Pure; the reading is
`shell/footers.py`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spark_jobs.core.errors import Refusal, VerificationFailed

#: Physical leaves (and groups) of a file: lower-cased dotted path -> type, without nullability.
Leaves = Mapping[str, str]

#: Parquet's names of codecs -> Spark's.
_PARQUET_CODECS = {"LZ4_RAW": "lz4raw"}
_ORC_CODECS = {"NONE": "none"}


@dataclass(frozen=True)
class Footer:
    """One file's footer. `codecs` maps codec -> compressed bytes; `writer` holds the writer's key-value metadata."""

    name: str
    rows: int
    codecs: Mapping[str, int]
    leaves: Leaves
    writer: Mapping[str, str]


@dataclass(frozen=True)
class Profile:
    """How a unit's files are written: what the rewrite has to mirror."""

    rows: int
    codec: str
    leaves: Leaves
    int96: bool
    millis: bool
    legacy_decimals: bool
    uniform: bool
    warnings: tuple[str, ...] = ()


def profile(footers: Sequence[Footer], declared_codec: str | None, orc: bool) -> Profile:
    """Reconciles all footers of a unit; raises Refusal where one schema cannot hold them all."""
    leaves = _union(footers)
    int96 = any(kind == "int96" for kind in leaves.values())
    _check_int96(footers)
    codec, warnings = _codec(footers, declared_codec, orc)
    return Profile(
        rows=sum(f.rows for f in footers),
        codec=codec,
        leaves=leaves,
        int96=int96,
        millis=any("TIMESTAMP(MILLIS" in kind for kind in leaves.values()),
        legacy_decimals=any(_is_legacy_decimal(kind) for kind in leaves.values()),
        uniform=len({tuple(f.leaves.items()) for f in footers}) == 1,
        warnings=warnings,
    )


def _union(footers: Iterable[Footer]) -> dict[str, str]:
    union: dict[str, tuple[str, str]] = {}
    for footer in footers:
        for path, kind in footer.leaves.items():
            before, where = union.setdefault(path, (kind, footer.name))
            if before != kind:
                raise Refusal(
                    "SCHEMA_CONFLICT", f"column '{path}' is {before} in {where} and {kind} in {footer.name}"
                )
    return {path: kind for path, (kind, _) in union.items()}


def _check_int96(footers: Iterable[Footer]) -> None:
    """Other writers' INT96 may hold nanoseconds, or local time without saying so; Spark would change them silently."""
    for footer in footers:
        if "int96" in footer.leaves.values() and "org.apache.spark.version" not in footer.writer:
            raise Refusal(
                "UNKNOWN_INT96_WRITER", f"{footer.name} holds INT96 timestamps that Spark did not write"
            )


def _is_legacy_decimal(kind: str) -> bool:
    """Hive, Impala and Spark's legacy format keep small decimals as fixed-length bytes instead of INT32/INT64."""
    match = re.match(r"(?:repeated )?fixed_len_byte_array\(\d+\) \(DECIMAL\((\d+),\d+\)\)", kind)
    return bool(match and int(match[1]) <= 18)


def _codec(footers: Iterable[Footer], declared: str | None, orc: bool) -> tuple[str, tuple[str, ...]]:
    """The declared codec, or the one that most bytes have; never the session's default."""
    sizes: Counter[str] = Counter()
    for footer in footers:
        sizes.update(footer.codecs)
    names = _ORC_CODECS if orc else _PARQUET_CODECS
    seen = [(names.get(codec, codec.lower()), size) for codec, size in sizes.most_common()]
    if declared:
        declared = declared.lower()
        others = [codec for codec, _ in seen if codec != declared]
        warning = f"the table declares {declared}, its files are {', '.join(others)} too; the declared codec is used"
        return declared, ((warning,) if others else ())
    mixed = f"files of several codecs ({', '.join(c for c, _ in seen)}); the one with most bytes is used"
    return (seen[0][0] if seen else "none" if orc else "uncompressed"), ((mixed,) if len(seen) > 1 else ())


def check_written(before: Profile, written: Sequence[Footer]) -> None:
    """What was written must have as many rows and the same physical types as what was read."""
    rows = sum(f.rows for f in written)
    if rows != before.rows:
        raise VerificationFailed(f"{before.rows} rows were read and {rows} written")
    after: dict[str, str] = {}
    for footer in written:
        after.update(footer.leaves)
    for path in sorted(before.leaves.keys() | after.keys()):
        was, now = before.leaves.get(path, "absent"), after.get(path, "absent")
        if was != now:
            raise Refusal("TYPE", f"column '{path}' is {was}, and Spark would rewrite it as {now}")
