"""The paths of everything that the jobs write, derived from fully qualified URIs.

The home is hidden (`.`), so that Hive, Spark, Impala and Trino do not find its directories. The last component of a
path in it keeps its visible name, because Hive's input formats reject an input directory whose own name starts with `.`
or `_`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shown
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.core.values.numbered_names import PADDED, PLAIN

HOME = ".lakekeeper"  # guard: hidden_home
#: The directory of a run's journal records.
RECORDS = "journal"
#: The directory of the commit log.
LOG = "log"
#: The directory of the record of settled runs, in which their directories are deleted.
SETTLED = "settled"
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_RUN_OR_GENERATION = re.compile(r"[A-Za-z0-9_-]{1,80}\Z")
_RUN_DIRECTORY = re.compile(r"(?P<run>[A-Za-z0-9_-]{1,80})\.(?P<attempt>[0-9a-f]{12})\Z")

_WORKING = re.compile(rf"__(?P<kind>compact_tmp|originals|aside|conflict|claimed)_(?P<stamp>{PLAIN})\Z")
_LEASE = re.compile(rf"lease-(?P<epoch>{PADDED})(?P<released>\.released)?\Z")


def is_home(name: str) -> bool:
    """Tell whether a directory of this name is a home, of a table's root or of one directory."""
    return name.startswith(HOME)


def is_home_of_one_directory(name: str) -> bool:
    return name.startswith(f"{HOME}-")


def is_inside_home(path: str) -> bool:
    """Tell whether a path is inside a home, which holds only runs with their originals, leases and the commit log."""
    return f"/{HOME}" in path


def is_below(path: str, directory: str) -> bool:
    """Tell whether `path` is strictly inside `directory`. Whole components count: `/data/ab` is not below `/data/a`."""
    return path.startswith(directory.rstrip("/") + "/")


def ancestors(location: str, root: str) -> list[str]:
    """Return the directories above `location`, up to and including `root`; only the parent if not below `root`."""
    directories = [parent(location)]
    while is_below(directories[-1], root):
        directories.append(parent(directories[-1]))
    return directories


def check_run_id(run_id: str) -> str:
    if not RUN_ID.match(run_id):
        raise UsageError(f"run id {shown(run_id)} must be 1 to 64 characters of A-Z a-z 0-9 _ -")
    return run_id


def is_run_id(name: str) -> bool:
    """Tell whether this is the id of a run, or of one of its generations."""
    return bool(_RUN_OR_GENERATION.match(name))


def generation(run_id: str, number: int) -> str:
    """Return the name of a generation of a run, which numbers start at 1.

    A finished run that is requested again starts a new generation, so that no directory name is ever used twice.
    """
    return run_id if number == 1 else f"{run_id}-g{number}"


def generation_number(run_id: str, name: str) -> int:
    """Return the number of the generation of a run that has this name; 0 if it is none of its generations."""
    if name == run_id:
        return 1
    match = re.fullmatch(rf"{re.escape(run_id)}-g({PLAIN})", name)
    return int(match[1]) if match else 0


@dataclass(frozen=True)
class Home:
    """The hidden directory of a table's root or of one directory, and the paths in it."""

    path: str

    @property
    def base(self) -> str:
        """Return the directory that holds the home. The directories that the home serves are below it."""
        return parent(self.path)

    @classmethod
    def of(cls, table_root: str, location: str) -> Home:
        """Return the home of a unit: the table's for partitions below its root, else one beside the unit."""
        if is_below(location, table_root):
            return cls(f"{table_root.rstrip('/')}/{HOME}")
        return cls(f"{parent(location)}/{HOME}-{name_of(location)}")

    @classmethod
    def of_table(cls, table_root: str, partitioned: bool) -> Home:
        """Return the table's own home: in the root, or beside the root if the table has no partitions."""
        return cls(f"{table_root.rstrip('/')}/{HOME}") if partitioned else cls.of(table_root, table_root)

    @property
    def directory(self) -> str | None:
        """Return the name of the one directory that the home serves; None for the home of a root."""
        name = name_of(self.path)
        return None if name == HOME else name[len(HOME) + 1 :]

    def relative(self, location: str) -> str:
        return location.rstrip("/")[len(self.base) + 1 :]

    def run_directory(self, run_id: str, attempt: str) -> str:
        return f"{self.path}/{run_id}.{attempt}"


@dataclass(frozen=True)
class LeaseFile:
    """The parsed name of a lease file. The job that created the highest epoch owns the home until it is released."""

    epoch: int
    released: bool

    @classmethod
    def parse(cls, name: str) -> LeaseFile | None:
        match = _LEASE.match(name)
        return cls(int(match["epoch"]), bool(match["released"])) if match else None

    @property
    def name(self) -> str:
        return f"lease-{self.epoch:06d}{'.released' if self.released else ''}"


@dataclass(frozen=True)
class RunDirectory:
    """The parsed name of a run's directory."""

    run_id: str
    attempt: str

    @classmethod
    def parse(cls, name: str) -> RunDirectory | None:
        match = _RUN_DIRECTORY.match(name)
        return cls(match["run"], match["attempt"]) if match else None


def working_directory(name: str) -> str | None:
    """Return the purpose of a run's working directory of this name, such as `originals`; None for any other name."""
    match = _WORKING.match(name)
    return match["kind"] if match else None


def is_tmp_directory(name: str) -> bool:
    """Tell whether a run writes its rewritten directories into a working directory of this name."""
    return working_directory(name) == "compact_tmp"


def working_directory_above(path: str, run_directory: str) -> str:
    """Return the working directory of a path below it, such as `<run directory>/__originals_<stamp>`."""
    return f"{run_directory}/{path[len(run_directory) + 1 :].split('/')[0]}"


def timestamp_of(name: str) -> int:
    """Return the number in the name of a run's working directory; 0 for any other name."""
    match = _WORKING.match(name)
    return int(match["stamp"]) if match else 0


def tmp_directory(stamp: str) -> str:
    return f"__compact_tmp_{stamp}"


def staging_directory(stamp: str, number: int) -> str:
    """Return the directory into which several units are written at once.

    It is in the working directory of rewritten directories, where leftovers of an attempt are deleted. No unit has a
    path in it, because directories with this name belong to this project.
    """
    return f"{tmp_directory(stamp)}/{HOME}-joint-{number}"


def old_directory(stamp: str) -> str:
    """Return the directory of originals.

    Lakekeeper 0.0.6 takes any backup table whose location contains `__old_` for its own: its cleanup deletes what is
    there, and so does its rollback. No name of ours contains it.
    """
    return f"__originals_{stamp}"  # guard: originals_not_of_another_tool


def aside_directory(stamp: str) -> str:
    return f"__aside_{stamp}"


def conflict_directory(stamp: str) -> str:
    return f"__conflict_{stamp}"


def claimed_directory(stamp: str) -> str:
    return f"__claimed_{stamp}"


def fresh_name(name: str, token: str) -> str:
    """Return a new name for a file that is moved: `part.c000.parquet` becomes `part-lk<token>.c000.parquet`.

    A hidden file stays hidden, because content that no reader saw before must not become data.
    """
    if name.startswith((".", "_")):
        return f"{name[0]}lk{token}-{name[1:]}"
    stem, dot, tail = name.partition(".")
    return f"{stem}-lk{token}{dot}{tail}"


#: No token of a file that is moved begins so: those are hexadecimal.
_OF_GROUP = re.compile(r"-lkg([0-9]{1,9})(?=[-.]|\Z)")


def group_name(name: str, number: int) -> str:
    """Return the name of a file that was written for one group of a unit's files (`core/formats/file_groups.py`)."""
    return fresh_name(name, f"g{number}")


def group_number(name: str) -> int | None:
    """Return the number of the group for which a file was written; None for any other file."""
    match = _OF_GROUP.search(name)
    return int(match[1]) if match else None
