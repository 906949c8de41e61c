"""The options of the jobs: their names on the wire, types, defaults and command line flags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.parsers import (
    Parser,
    absent,
    boolean,
    choice,
    integer,
    number,
    partition_list,
    pattern,
    text,
    text_list,
    wrong,
)

ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY = "analyze", "compact", "rollback", "cleanup", "history"
VERBS = (ANALYZE, COMPACT, ROLLBACK, CLEANUP, HISTORY)

_WORD = re.compile(r"\w+")
_SIZE = re.compile(r"\d+(\.\d+)?\s*([kmgt]?b)?", re.IGNORECASE)
_DURATION = re.compile(r"\d+\s*[smhdw]")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True)
class Option:
    """One option: ``flag`` is None where only the request file carries it."""

    key: str
    parse: Parser
    default: Any
    help: str
    flag: str | None = None
    verbs: tuple[str, ...] = VERBS
    in_config: bool = True
    per_table: bool = True


_REWRITE = (ANALYZE, COMPACT)
OPTIONS: Mapping[str, Option] = {
    option.key: option
    for option in (
        Option("block_size_mb", integer(1), 128, "HDFS block size in MB", "--block-size", _REWRITE),
        Option(
            "compaction_ratio_threshold",
            number(1),
            10.0,
            "compact where min(average, median) file size is below block size / ratio",
            "--ratio-threshold",
            _REWRITE,
        ),
        Option(
            "min_input_files", integer(2), 2, "leave units with fewer files", "--min-input-files", _REWRITE
        ),
        Option(
            "target_file_size",
            pattern(_SIZE, "a size such as 512mb"),
            None,
            "size of the files to write, such as 512mb (default: the block size)",
            "--target-file-size",
            _REWRITE,
        ),
        Option(
            "full_scan",
            boolean,
            False,
            "list every directory, also those that have not changed",
            "--full-scan",
            _REWRITE,
        ),
        Option(
            "partitions",
            partition_list,
            None,
            "partitions as JSON, possibly partial; null is the default partition",
            "--partitions",
            _REWRITE,
            in_config=False,
        ),
        Option(
            "where", text, None, "SQL condition on the partition keys", "--where", _REWRITE, in_config=False
        ),
        Option(
            "sort_columns", text_list, None, "sort the rewritten files by a,b", "--sort-columns", (COMPACT,)
        ),
        Option(
            "analyze_after_compaction",
            boolean,
            False,
            "refresh the metastore's statistics afterwards",
            "--analyze-stats",
            (COMPACT,),
        ),
        Option(
            "dry_run",
            boolean,
            False,
            "decide and report, write nothing",
            "--dry-run",
            (COMPACT, CLEANUP),
            per_table=False,
        ),
        Option(
            "deadline",
            text,
            None,
            "no swap after this instant (ISO 8601)",
            "--deadline",
            (COMPACT,),
            in_config=False,
        ),
        Option(
            "parallelism",
            integer(1),
            4,
            "units worked on side by side",
            "--parallelism",
            (COMPACT, ROLLBACK, CLEANUP),
            per_table=False,
        ),
        Option(
            "verify",
            choice("count", "hash"),
            "count",
            "how the result is checked: rows and physical types (count), or every value too (hash)",
            "--verify",
            (COMPACT,),
        ),
        Option(
            "attributes",
            choice("require", "warn"),
            None,
            "owner, mode, ACL, policies: refuse what cannot be kept, or warn (default: warn of the owner only)",
            None,
            (COMPACT,),
        ),
        Option(
            "quota_folders",
            text_list,
            None,
            "folders above the tables that have quotas: room in them is looked for before anything is written",
            None,
            _REWRITE,
        ),
        Option(
            "on_failure",
            choice("keep", "undo"),
            "keep",
            "what becomes of units swapped before a failure",
            "--on-failure",
            (COMPACT,),
        ),
        Option(
            "on_new_data",
            choice("keep", "refuse"),
            "keep",
            "rows appended since the compaction stay, or refuse",
            "--on-new-data",
            (ROLLBACK,),
        ),
        Option(
            "older_than",
            pattern(_DURATION, "a duration such as 7d"),
            None,
            "only runs older than this, such as 7d",
            "--older-than",
            (CLEANUP,),
        ),
        Option("keep_last", integer(0), None, "keep the newest N runs", "--keep-last", (CLEANUP,)),
        Option(
            "allow_short_retention",
            boolean,
            False,
            "allow an older_than of less than 24 hours",
            None,
            (CLEANUP,),
        ),
        Option("skip_trash", boolean, False, "delete without the HDFS trash", "--skip-trash", (CLEANUP,)),
        Option(
            "backup_prefix",
            pattern(_WORD, "a name of letters, digits and _"),
            "__bkp",
            "prefix of backup tables",
        ),
        Option(
            "backup_database",
            pattern(_WORD, "a name of letters, digits and _"),
            None,
            "database of backup tables",
        ),
        Option("register_backup", boolean, True, "register backups as tables"),
        Option(
            "staging_ttl",
            pattern(_DURATION, "a duration such as 24h"),
            "24h",
            "age from which a writer's staging folder is dead",
        ),
        Option(
            "writers",
            choice("append", "overwrite"),
            None,
            "what a writer means that makes a directory anew while it is swapped (default: unknown)",
        ),
        Option(
            "trusted_owners",
            text_list,
            None,
            "other accounts whose journals, and partitions outside a root, count: a,b (this account and the owner of a"
            " table's root always do)",
            "--trusted-owners",
        ),
        Option(
            "lease_timeout",
            pattern(_DURATION, "a duration such as 20s"),
            "20s",
            "a job that shows no sign of life for so long is taken over",
        ),
        Option(
            "lease_wait",
            pattern(_DURATION, "a duration such as 60s"),
            "60s",
            "how long to wait for another job on the same table",
        ),
        Option(
            "log_level",
            choice("DEBUG", "INFO", "WARNING", "ERROR", fold=str.upper),
            "INFO",
            "verbosity of the job",
            "--log-level",
            per_table=False,
        ),
        Option(
            "include",
            text,
            None,
            "narrow --database to tables matching this glob",
            "--include",
            in_config=False,
        ),
        Option("exclude", text, None, "leave out tables matching this glob", "--exclude", in_config=False),
    )
}


#: Options that must not be lost on the way: a template that renders to nothing is a mistake.
EXPLICIT = frozenset({"older_than", "keep_last"})


def parse_options(given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Type-check options by key; None means "not given" and is left out."""
    for key in EXPLICIT & given.keys():
        if isinstance(given[key], str) and absent(given[key]):
            raise wrong(f"{where}{key}", given[key], "a value, for without one all originals would go")
    parsed = {k: OPTIONS[k].parse(f"{where}{k}", v) for k, v in given.items() if not absent(v)}
    if "partitions" in parsed and "where" in parsed:
        raise UsageError("give either partitions or where, not both")
    return parsed


def seconds(duration: str) -> int:
    """Return how long a duration such as ``7d`` is."""
    return int(duration.rstrip("smhdw ")) * _SECONDS[duration.strip()[-1]]
