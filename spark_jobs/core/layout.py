"""Where everything that we write lies. Pure path arithmetic on fully qualified URIs.

A hidden ancestor (`.`) keeps Hive, Spark, Impala and Trino discovery out; the leaf keeps its visible name because
Hive's input formats refuse an input directory whose own name starts with `.` or `_`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from spark_jobs.core.errors import UsageError
from spark_jobs.core.model import Spec, name_of, parent

HOME = ".lakekeeper"  # guard: hidden_home
#: The folder of a run's journal records.
RECORDS = "journal"
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_RUN_FOLDER = re.compile(r"(?P<run>[A-Za-z0-9_-]{1,80})\.(?P<attempt>[0-9a-f]{12})\Z")

_WORKING = re.compile(r"__(?P<kind>compact_tmp|old|undone|conflict|cleaned)_(?P<stamp>\d+)\Z")
_LEASE = re.compile(r"lease-(?P<epoch>\d+)(?P<released>\.released)?\Z")

#: Lakekeeper 0.0.6 leaves visible siblings of these names behind; its backup tables read those of the first kind.
_LEGACY = re.compile(r".+__(old|compact_tmp)_\d{10}\Z")
_LEGACY_BACKUP = re.compile(r"(?P<of>.+)__old_\d{10}\Z")


def is_legacy_leftover(name: str) -> bool:
    return bool(_LEGACY.match(name))


def is_legacy_backup(location: str, spec: Spec) -> bool:
    """Does a table's unit lie where Lakekeeper 0.0.6 keeps originals? Told by shape: a partition whose own value ends
    like that is a partition like any other."""
    name = name_of(location)
    key, value = spec[-1] if spec else ("", None)
    ordinary = bool(spec) and unquote(name).casefold() == f"{key}={value}".casefold()
    return bool(_LEGACY_BACKUP.match(name)) and not ordinary


def is_home(name: str) -> bool:
    """Tell whether a folder of this name is a home, of a root or of one directory."""
    return name.startswith(HOME)


def is_home_of_one_directory(name: str) -> bool:
    return name.startswith(f"{HOME}-")


def is_inside_home(path: str) -> bool:
    """Tell whether a path lies in a home, where only originals and folders of runs are."""
    return f"/{HOME}" in path


def is_below(path: str, folder: str) -> bool:
    """Is `path` strictly inside `folder`? By components, never by prefix: `/data/ab` is not below `/data/a`."""
    return path.startswith(folder.rstrip("/") + "/")


def ancestors(location: str, root: str) -> list[str]:
    """The folders above `location`, up to and with `root`; only its parent where it lies elsewhere."""
    folders = [parent(location)]
    while is_below(folders[-1], root):
        folders.append(parent(folders[-1]))
    return folders


def check_run_id(run_id: str) -> str:
    if not RUN_ID.match(run_id):
        raise UsageError(f"run id '{run_id}' must be 1 to 64 characters out of A-Z a-z 0-9 _ -")
    return run_id


def generation(run_id: str, number: int) -> str:
    """A finished run that is asked for again opens a new generation, so no folder name is ever used twice."""
    return run_id if number == 1 else f"{run_id}-g{number}"


@dataclass(frozen=True)
class Home:
    """The hidden folder of a table root or of one directory, and how a live location maps into a run's folders."""

    path: str

    @property
    def base(self) -> str:
        """The folder that holds the home, and below which the directories that it serves lie."""
        return parent(self.path)

    @classmethod
    def of(cls, table_root: str, location: str) -> Home:
        """A partition below the root shares the table's home; anything else has one beside itself."""
        if is_below(location, table_root):
            return cls(f"{table_root.rstrip('/')}/{HOME}")
        return cls(f"{parent(location)}/{HOME}-{name_of(location)}")

    @classmethod
    def of_table(cls, table_root: str, partitioned: bool) -> Home:
        """The table's own home, under the root or, without partitions, beside it."""
        return cls(f"{table_root.rstrip('/')}/{HOME}") if partitioned else cls.of(table_root, table_root)

    @property
    def directory(self) -> str | None:
        """The name of the one directory that it serves; None for the home of a root."""
        name = name_of(self.path)
        return None if name == HOME else name[len(HOME) + 1 :]

    def relative(self, location: str) -> str:
        return location.rstrip("/")[len(self.base) + 1 :]

    def run_folder(self, run_id: str, attempt: str) -> str:
        return f"{self.path}/{run_id}.{attempt}"


@dataclass(frozen=True)
class LeaseFile:
    """Parsed name of a lease: whoever made the one of the highest epoch owns the home, until it is released."""

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
class RunFolder:
    """Parsed name of a run's folder."""

    run_id: str
    attempt: str

    @classmethod
    def parse(cls, name: str) -> RunFolder | None:
        match = _RUN_FOLDER.match(name)
        return cls(match["run"], match["attempt"]) if match else None


def working_folder(name: str) -> str | None:
    """What a run's working folder of this name is for, such as `old`; None for any other name."""
    match = _WORKING.match(name)
    return match["kind"] if match else None


def is_tmp_folder(name: str) -> bool:
    """Tell whether a run writes its compacted files into a working folder of this name."""
    return working_folder(name) == "compact_tmp"


def working_folder_above(path: str, run_folder: str) -> str:
    """Return `<run folder>/__old_<stamp>` of a path below it."""
    return f"{run_folder}/{path[len(run_folder) + 1 :].split('/')[0]}"


def timestamp_of(name: str) -> int:
    """The number in the name of a run's working folder; 0 for any other name."""
    match = _WORKING.match(name)
    return int(match["stamp"]) if match else 0


def tmp_folder(stamp: str) -> str:
    return f"__compact_tmp_{stamp}"


def old_folder(stamp: str) -> str:
    return f"__old_{stamp}"


def undone_folder(stamp: str) -> str:
    return f"__undone_{stamp}"


def conflict_folder(stamp: str) -> str:
    return f"__conflict_{stamp}"


def claimed_folder(stamp: str) -> str:
    return f"__cleaned_{stamp}"


def fresh_name(name: str, token: str) -> str:
    """A name for a file carried into another directory: `part.c000.parquet` becomes `part-lk<token>.c000.parquet`.

    A hidden file stays hidden: what no reader saw before must not become data.
    """
    if name.startswith((".", "_")):
        return f"{name[0]}lk{token}-{name[1:]}"
    stem, dot, tail = name.partition(".")
    return f"{stem}-lk{token}{dot}{tail}"
