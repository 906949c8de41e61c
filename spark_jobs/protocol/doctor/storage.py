"""The checks of the directories of tables: HDFS, rights, trash, quotas, and what Lakekeeper 0.0.6 has left."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.messages.remedies import accounts
from spark_jobs.core.rules.quota import Quota
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.legacy_leftovers import is_backup_name
from spark_jobs.core.values.model import parent
from spark_jobs.core.wire.checks import Answer, advice, bad, good
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.ports import Surroundings
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.legacy import kept_by_lakekeeper_0_0_6

#: Of each table, at most this many partitions are looked at: rights differ from one pipeline to another.
_PARTITIONS = 50
#: At most this many of the same kind are named.
_NAMED = 2
#: A run needs about this many names for its records, and one block on all replicas for a file that is open.
_NAMES, _REPLICAS = 50, 3


def hdfs(services: Services, around: Surroundings, roots: Sequence[str]) -> Answer:
    """Read the root of each file system, and whether it refuses writes."""
    servers = dict.fromkeys(services.fs.qualify(root) for root in (roots or ["/"]))
    for root in servers:
        services.fs.status(root)
        if around.safe_mode(root):
            return bad(
                f"the NameNode of {root} is in safe mode", "Wait until it leaves it, or ask who runs HDFS"
            )
    return good(f"it answers for {_some(list(servers))}")


def rights(services: Services, around: Surroundings, tables: Sequence[Table]) -> Answer:
    """Ask for the rights in the directories that a compaction changes. Nothing is written."""
    account, lacking = services.fs.user(), []
    directories = dict.fromkeys(path for table in tables for path in _written_to(table))
    for directory in directories:
        try:
            around.check_access(directory)
        except FileNotFoundError:
            continue
        except PermissionError as error:
            lacking.append(str(error))
    if lacking:
        return bad(
            f"{len(lacking)} of {len(directories)} directories: {_some(lacking)}",
            f"Run the jobs as the owner, or grant {account} the right to read, write and enter them"
            " (docs/guides/permissions.md)",
        )
    others = {owner for table in tables if (owner := _owner(services, table.root)) not in ("", account)}
    shown = f"{account} may list, write to and enter {len(directories)} directories"
    if others:
        return advice(
            f"{shown}; the tables belong to {', '.join(sorted(others))}",
            f"What is written belongs to {account}, unless HDFS lets it give files away; to keep the owner, run the"
            " jobs as the owner (docs/guides/permissions.md)",
        )
    return good(shown)


def _written_to(table: Table) -> list[str]:
    """Return the directories whose entries change: those of the home, and the parents of units, and units."""
    units = [unit.location for unit in table.units[:_PARTITIONS]]
    homes = [Home.of(table.root, location).base for location in units]
    return [Home.of_table(table.root, table.partitioned).base, *homes, *map(parent, units), *units]


def _owner(services: Services, path: str) -> str:
    status = services.fs.status(path)
    return status.owner if status else ""


def trash(services: Services, tables: Sequence[Table]) -> Answer:
    """Tell whether a cleanup could move originals to the trash."""
    fs, account = services.fs, services.fs.user()
    needed = [table for table in tables if not table.options.skip_trash]
    if not needed:
        return good("the option skip_trash is set: cleanups delete permanently")
    without = [table.root for table in needed if not fs.trash_enabled(table.root)]
    if without:
        return bad(
            f"the trash is switched off (fs.trash.interval is 0), and a cleanup would refuse: {_some(without)}",
            "Set fs.trash.interval in core-site.xml of the driver, or skip_trash: true, which deletes permanently",
        )
    home = fs.qualify(f"/user/{account}")
    if home.startswith("hdfs:") and fs.status(home) is None:
        return bad(f"{home} does not exist, and the trash would be in it", accounts.home_command(account))
    return good(f"it is switched on, in {home}")


def quota(services: Services, tables: Sequence[Table]) -> Answer:
    """Compare the quotas of the tables' roots, and of those in `quota_folders`, with what is used."""
    directories = dict.fromkeys(
        services.fs.qualify(path) for table in tables for path in (table.root, *table.options.quota_folders)
    )
    block = max(table.options.thresholds().block_size for table in tables)
    found = [quota for path in directories if (quota := services.fs.quota(path)) is not None]
    full = [_usage(each) for each in found if _is_full(each, block)]
    if full:
        return bad(
            _some(full), "Raise it (hdfs dfsadmin -setQuota, -setSpaceQuota), or clean up older originals"
        )
    shown = _some([_usage(each) for each in found]) if found else "none"
    return good(f"{shown}; quotas of directories above are known only if quota_folders names them")


def _is_full(quota: Quota, block: int) -> bool:
    names = quota.names is not None and quota.names_used + _NAMES > quota.names
    space = quota.space is not None and quota.space_used + _REPLICAS * block > quota.space
    return names or space


def _usage(quota: Quota) -> str:
    parts = []
    if quota.names is not None:
        parts.append(f"{quota.names_used} of {quota.names} files and directories")
    if quota.space is not None:
        parts.append(f"{quota.space_used} of {quota.space} bytes on all replicas")
    return f"{quota.directory} uses {' and '.join(parts)}"


def leftovers(services: Services, tables: Sequence[Table]) -> Answer:
    """Look for backup tables and directories of Lakekeeper 0.0.6."""
    found = [text for table in tables if (text := kept_by_lakekeeper_0_0_6(services.fs, table.units))]
    prefixes = {table.facts.name.partition(".")[0]: table.options.backup_prefix for table in tables}
    for database, prefix in prefixes.items():
        names = services.metastore.tables(database)
        found += [f"{database}.{name}" for name in names if is_backup_name(name, prefix)]
    if found:
        return advice(
            _some(found), "docs/guides/troubleshooting.md, 'What Lakekeeper 0.0.6 has left', ends it"
        )
    return good("nothing")


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return f"{'; '.join(texts[:_NAMED])}{more}"
