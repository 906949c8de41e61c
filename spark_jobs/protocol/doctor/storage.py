"""The checks of the directories of tables: HDFS, rights, trash, quotas, and what Lakekeeper 0.0.6 has left."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.messages.remedies import accounts
from spark_jobs.core.records.journal_bounds import server_of
from spark_jobs.core.rules.quota import RUN, Need, Quota, shortfall
from spark_jobs.core.values.layout import Home, is_below
from spark_jobs.core.values.legacy_leftovers import is_backup_name
from spark_jobs.core.values.model import parent
from spark_jobs.core.wire.checks import Answer, advice, bad, good
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.surroundings import Surroundings
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.legacy import kept_by_lakekeeper_0_0_6

#: Of each table, at most this many partitions are looked at: rights differ from one pipeline to another.
_PARTITIONS = 50
#: At most this many of the same kind are named.
_NAMED = 2
#: HDFS counts a whole block for a file that is open, on all replicas.
_REPLICAS = 3
_ENTER, _WRITE, _ALL = "r-x", "-wx", "rwx"


def hdfs(services: Services, around: Surroundings, roots: Sequence[str]) -> Answer:
    """Read a directory of each file system, and whether it refuses writes."""
    paths = [services.fs.qualify(root) for root in (roots or ["/"])]
    for path in {server_of(path): path for path in paths}.values():
        if around.safe_mode(path):
            return bad(
                f"the NameNode of {path} is in safe mode", "Wait until it leaves it, or ask who runs HDFS"
            )
    missing = [path for path in paths if services.fs.status(path) is None]
    if missing:
        return bad(f"there is no directory {_some(missing)}", "Correct the location, or make the directory")
    if not roots and paths[0].startswith("file:"):
        return advice(
            "fs.defaultFS is the local disk",
            "If it should be HDFS: set HADOOP_CONF_DIR to the directory that has the core-site.xml of the cluster",
        )
    return good(f"it answers for {_some(paths)}")


def rights(services: Services, around: Surroundings, tables: Sequence[Table]) -> Answer:
    """Ask for the rights in the directories that a compaction changes. Nothing is written."""
    account, lacking = services.fs.user(), []
    wanted = [pair for table in tables for pair in _wanted(table)]
    for path, needed in dict.fromkeys(wanted):
        try:
            around.check_access(path, needed)
        except FileNotFoundError:
            continue
        except PermissionError as error:
            lacking.append(str(error))
    if lacking:
        return bad(
            f"{len(lacking)} of {len(set(wanted))} questions: {_some(lacking)}",
            f"Run the jobs as the owner, or grant {account} what it lacks (docs/guides/permissions.md)",
        )
    left = sum(max(0, len(table.units) - _PARTITIONS) for table in tables)
    shown = f"{account} has those that it needs in {len(set(wanted))} directories"
    shown += f"; {left} partitions were not looked at" if left else ""
    others = {owner for table in tables if (owner := _owner(services, table.root)) not in ("", account)}
    if others:
        return advice(
            f"{shown}; the tables belong to {', '.join(sorted(others))}",
            f"What is written belongs to {account}, unless HDFS lets it give files away; to keep the owner, run the"
            " jobs as the owner (docs/guides/permissions.md)",
        )
    return good(shown)


def _wanted(table: Table) -> list[tuple[str, str]]:
    """Return directories with the rights that are needed there: to rename a directory, to write to the one above it."""
    units = [unit.location for unit in table.units[:_PARTITIONS]]
    above = [Home.of_table(table.root, table.partitioned).base, *map(parent, units)]
    above += [Home.of(table.root, location).base for location in units]
    # What is deleted for good is emptied first.
    of_unit = _ALL if table.options.skip_trash else _ENTER
    return [*((path, _WRITE) for path in above), *((path, of_unit) for path in units)]


def _owner(services: Services, path: str) -> str:
    status = services.fs.status(path)
    return status.owner if status else ""


def trash(services: Services, around: Surroundings, tables: Sequence[Table]) -> Answer:
    """Tell whether a cleanup could move originals to the trash."""
    fs, account = services.fs, services.fs.user()
    needed = [table.root for table in tables if not table.options.skip_trash]
    if not needed:
        return good("the option skip_trash is set: cleanups delete permanently")
    without = [root for root in needed if not fs.trash_enabled(root)]
    if without:
        return bad(
            f"the trash is switched off (fs.trash.interval is 0), and a cleanup would refuse: {_some(without)}",
            "Set fs.trash.interval in core-site.xml of the driver, or skip_trash: true, which deletes permanently",
        )
    places = list(dict.fromkeys(around.trash_root(root) for root in needed))
    for place in places:
        if place.startswith("hdfs:") and not (fs.status(place) or fs.status(parent(place))):
            return bad(f"{parent(place)} does not exist, and the trash would be in it", _make_home(account))
    return good(f"it is switched on, in {_some(places)}")


def _make_home(account: str) -> str:
    command = accounts.home_command(account)
    return (
        f"{command[0].upper()}{command[1:]}; in an encryption zone: hdfs crypto -provisionTrash -path <zone>"
    )


def quota(services: Services, tables: Sequence[Table]) -> Answer:
    """Compare the quotas that a compaction checks with what is used."""
    problems, found = [], []
    for table in tables:
        block = table.options.thresholds().block_size
        own = None if table.partitioned else _quota(services, table.root)
        if own is not None:
            problems.append(f"{own.directory} itself has a quota, and so the table is refused (QUOTA)")
        for each in filter(None, (_quota(services, path) for path in _limiting(services, table))):
            found.append(_usage(each))
            problems += filter(None, [shortfall(each, RUN + Need(space_meanwhile=_REPLICAS * block), 1)])
    if problems:
        return bad(_some(problems), accounts.RAISE_QUOTA)
    shown = _some(list(dict.fromkeys(found))) if found else "none"
    return good(f"{shown}; quotas of directories above are known only if quota_folders names them")


def _limiting(services: Services, table: Table) -> list[str]:
    """Return the directories whose quotas a compaction checks, as the planning does: no others are counted by HDFS."""
    base = Home.of_table(table.root, table.partitioned).base
    named = [services.fs.qualify(path) for path in table.options.quota_folders]
    return [
        *([base] if base == table.root else []),
        *(path for path in named if is_below(base, path) or base == path),
    ]


def _quota(services: Services, path: str) -> Quota | None:
    """Return a quota. A compaction does not check one that cannot be read, and HDFS enforces it."""
    try:
        return services.fs.quota(path)
    except OSError:
        return None


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
