"""Tables that are declared as bucketed by Hive, and whose files are no bucket files.

Engines match files to buckets by the number in a file's name, or by the place of the file among as many files as there
are buckets: Hive (`000002_0`, `000002_0_copy_1`), Spark for Hive (`00002_0_part-...`), Trino (`000002_0_<query>`,
`<query>_bucket-00002`), Spark for itself (`part-..._00002.c000`). Pipelines of Spark before 3.3, and others that know
nothing of buckets, write any number of files under other names into such a table. Files that Hive has numbered without
buckets look like buckets too: `lakekeeper.bucketing=ignore` is for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.rules.eligibility import Storage, TableFacts

#: What Hive adds to the name of a file that is there already. It places both as if they had the same name.
_COPY = re.compile(r"_copy_\d+")
_NUMBERED = [re.compile(pattern) for pattern in (r"(?:\A|_)bucket[_-]\d", r"\A\d+_\d", r"_\d{5}(?=\.|\Z)")]


def buckets_of(facts: TableFacts, bucketing: str) -> int:
    """Return the number of buckets that a table is declared with; 0 if it is not bucketed, or they do not count.

    Args:
        bucketing: the option of this name.
    """
    return 0 if bucketing == "ignore" else facts.buckets


def check_buckets_of_partition(facts: TableFacts, bucketing: str, storage: Storage, what: str) -> None:
    """Raise Refusal if a partition may have another number of buckets than its table: files are matched by that one."""
    if not buckets_of(facts, bucketing) or not facts.partition_keys:
        return
    if storage.buckets not in (0, facts.buckets):  # guard: buckets_of_partitions
        raise Refusal(
            RefusalCode.BUCKETED,
            f"{what} is declared with {storage.buckets or 'an unknown number of'} buckets, and its table with"
            f" {facts.buckets}",
        )


def check_no_bucket_files(facts: TableFacts, bucketing: str, names: Iterable[str]) -> None:
    """Raise Refusal if the files of a unit may be the buckets of its table.

    They are none only if they are not as many as there are buckets, and none has a number in its name as a bucket has
    it. A higher number than there are buckets proves nothing: a partition keeps the number that it was written with.
    """
    if not buckets_of(facts, bucketing):
        return
    plain = {_COPY.sub("", name) for name in names}
    if len(plain) == facts.buckets or any(map(_is_numbered, plain)):  # guard: bucket_files_stay
        raise Refusal(
            RefusalCode.BUCKETED,
            f"{facts.name} is bucketed, and its {len(plain)} files may be its {facts.buckets} buckets; a rewrite would"
            " break them",
        )


def check_left(facts: TableFacts, bucketing: str, left: int) -> None:
    """Raise Refusal if this many files would look like the buckets of the table, which they are not."""
    if left and left == buckets_of(facts, bucketing):  # guard: no_files_like_buckets
        raise Refusal(
            RefusalCode.BUCKETED,
            f"{facts.name} is declared with {facts.buckets} buckets, and engines would take as many files for them."
            " Choose another target_file_size",
        )


def bucket_warnings(facts: TableFacts, bucketing: str) -> list[str]:
    """Return the warning about a table of which a unit is compacted, although it is declared as bucketed."""
    if not buckets_of(facts, bucketing):
        return []
    text = f"{facts.name} is declared with {facts.buckets} buckets, but its files are no bucket files"
    return [WarningCode.BUCKETS_NOT_TRUE.text(text)]


def _is_numbered(name: str) -> bool:
    return any(pattern.search(name) for pattern in _NUMBERED)
