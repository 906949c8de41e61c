"""The options about other jobs, writers and readers of a table. Some are set by the table only."""

# ruff: noqa: RUF009 - `option` returns a field, whose default is a value
from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from spark_jobs.core.options.native import NativeOptions
from spark_jobs.core.options.option import NO_PROPERTY, OF_THE_TABLE, Level, Section, choice, option, switch
from spark_jobs.core.options.parsers import duration, texts

_option, _choice = partial(option, section=Section.CONCURRENCY), partial(choice, section=Section.CONCURRENCY)
_choice_of_table = partial(choice, layers=OF_THE_TABLE, level=Level.RARE)
_switch_of_table = partial(switch, layers=OF_THE_TABLE, level=Level.RARE)


@dataclass(frozen=True)
class ConcurrencyOptions(NativeOptions):
    """Other jobs, writers and readers of a table."""

    staging_ttl: timedelta = _option(
        timedelta(hours=24),
        duration("1m", "3650d"),
        "age from which a writer's staging files count as abandoned",
        level=Level.RARE,
    )
    writers: str | None = _choice(
        None,
        ("append", "overwrite"),
        "whether a directory that a writer recreated during a swap adds to the table or replaces it (default: unknown)",
        level=Level.RARE,
        note="Where it is unknown, such a unit is quarantined until a person decides. Best set per table.",
        example="append",
    )
    bucketing: str = _choice_of_table(
        "refuse", ("refuse", "ignore"), "whether tables bucketed by Hive are compacted"
    )
    kafka_connect: str = _choice_of_table(
        "refuse", ("refuse", "retired"), "whether files named by Kafka Connect's HDFS sink are compacted"
    )
    readers: str | None = _choice_of_table(
        None,
        ("by-name", "by-position"),
        "how the engines that read the table match columns (default: ORC possibly by position, other formats by name)",
    )
    enabled: bool = _switch_of_table("whether the table is compacted at all", default=True, unreadable=False)
    trusted_owners: tuple[str, ...] = _option(
        (),
        texts(),
        "other accounts whose journals, and partitions outside the table's root, are trusted",
        flag="--trusted-owners",
        metavar="A,B",
        layers=NO_PROPERTY,
        level=Level.RARE,
        note="The account of the job and the owner of the table's root are always trusted.",
        example=["etl"],
    )
    lease_timeout: timedelta = _option(
        timedelta(seconds=20),
        duration("2s", "1h"),
        "time without a heartbeat after which another job takes a lease over",
        layers=NO_PROPERTY,
        level=Level.RARE,
    )
    lease_wait: timedelta = _option(
        timedelta(seconds=60),
        duration("0s", "24h"),
        "how long to wait for another job on the same table",
        layers=NO_PROPERTY,
        level=Level.RARE,
    )
