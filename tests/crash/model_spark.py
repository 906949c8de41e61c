"""Spark's part in the model: data files with rows that can be told apart, their footers, and a rewrite."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.messages.errors import LakekeeperError, Unreadable, VerificationFailed
from spark_jobs.core.values.model import FileListing, name_of
from spark_jobs.protocol.file_system import FileSystem, FileSystemError
from spark_jobs.protocol.ports import Arrow, JointFiles, RewriteRequest, RewriteResult
from tests.crash.fault_injection import FaultInjector
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_tree import Inode, ModelTree


def encode_rows(ids: Sequence[int]) -> bytes:
    """A data file: rows that are known by their ids, and a footer without which nobody can read it."""
    return json.dumps({"rows": list(ids), "footer": True}).encode()


@lru_cache(maxsize=4096)
def decode_rows(content: bytes) -> tuple[int, ...] | None:
    """The ids of a data file, or None for anything else, a half-written one included."""
    try:
        data = json.loads(content)
    except ValueError:
        return None
    whole = isinstance(data, dict) and data.get("footer") is True
    return tuple(data["rows"]) if whole else None


class ModelFooters:
    """Reads footers; one point for all files of a unit, as the real one asks in one round trip."""

    def __init__(self, tree: ModelTree, injector: FaultInjector) -> None:
        self._tree = tree
        self._injector = injector

    def read(self, directories: Sequence[tuple[str, FileListing]], file_format: str) -> list[list[Footer]]:
        files = [[f"{folder}/{file.name}" for file in listing.data] for folder, listing in directories]
        if not any(files):
            return files

        def act() -> list[list[Footer]]:
            return [merged([self._footer(file) for file in each]) for each in files]

        return self._injector.call("footers", tuple(itertools.chain(*files)), act, FileSystemError)

    def _footer(self, file: str) -> Footer:
        inode = self._tree.get(file)
        if inode is None:
            raise FileNotFoundError(f"cannot read the footer of {file}: it does not exist")
        rows = decode_rows(inode.content) if inode.closed else None
        if rows is None:
            raise Unreadable(file, "expected magic number at tail")
        return Footer(
            name_of(file),
            len(rows),
            {"SNAPPY": len(inode.content)},
            {"id": "int64"},
            {"writer.model.name": "model"},
        )


class ModelRewriter:
    """Writes as a Spark job does: into `_temporary`, with missing parents made; then renames, then tidies up."""

    def __init__(self, fs: ModelFileSystem, job_name: str) -> None:
        self._fs = fs
        self._job_name = job_name

    #: One task at a time: how tasks share the rows of a unit is no part of the model.
    slots = 1

    def encoding(self, profile: Profile, file_format: str) -> Encoding:
        return Encoding()

    def write(self, plan: RewriteRequest) -> RewriteResult:
        """Everything that is not ours becomes a LakekeeperError, as the real rewriter's exceptions do."""
        try:
            return RewriteResult(self._write(plan))
        except (OSError, ValueError) as error:
            raise LakekeeperError(f"Spark could not rewrite the unit: {error}") from error

    def write_jointly(self, requests: Sequence[RewriteRequest], staging: str) -> Sequence[str]:
        """One job for several units. Files that cannot be read are left out; a unit without rows gets no folder."""
        try:
            return self._write_jointly(requests, staging)
        except (OSError, ValueError) as error:
            raise LakekeeperError(f"Spark could not rewrite the units: {error}") from error

    def arrow(self) -> Arrow:
        return Arrow(version="model")

    def write_by_arrow(self, requests: Sequence[RewriteRequest], staging: str) -> JointFiles:
        """The same job, but for the names of its files."""
        try:
            return JointFiles(self._write_jointly(requests, staging, ".txt"))
        except (OSError, ValueError) as error:
            raise LakekeeperError(f"Spark could not rewrite the units: {error}") from error

    def _write_jointly(
        self, requests: Sequence[RewriteRequest], staging: str, ending: str = ".snappy.parquet"
    ) -> list[str]:
        folders = [f"unit={number}" for number in range(len(requests))]
        temporary = f"{staging}/_temporary/0"
        self._fs.mkdirs(temporary)
        written = [
            folder
            for folder, plan in zip(folders, requests, strict=True)
            if self._task(plan, f"{temporary}/{folder}", staging, ending)
        ]
        for folder in written:
            if not self._fs.raw_rename(f"{temporary}/{folder}", f"{staging}/{folder}"):
                raise FileSystemError(f"Failed to rename {temporary}/{folder} to {staging}/{folder}")
        self._fs.delete_tree(f"{staging}/_temporary")
        return [f"{staging}/{folder}" for folder in folders]

    def _task(self, plan: RewriteRequest, folder: str, staging: str, ending: str) -> bool:
        """The task of one unit; its file has another name than one that a write of this unit alone gives."""
        rows: list[int] = []
        for file in plan.files:
            with contextlib.suppress(OSError, Unreadable):
                rows += _read_rows(self._fs, [file])
        if rows:
            job = f"{self._job_name}-{name_of(staging).rpartition('-')[2]}"
            self._fs.replace(f"{folder}/part-00000-{job}.c000{ending}", encode_rows(rows))
        return bool(rows)

    def copy(self, directory: str, files: FileListing, target: str) -> dict[str, str]:
        """The first attempt of each task dies in the middle, and leaves what it has written."""
        copies = {}
        for number, file in enumerate(files.data):
            try:
                content = self._fs.read(f"{directory}/{file.name}")
                self._fs.create(f"{target}/{number}-given-up", content[: len(content) // 2])
                copies[file.name] = f"{target}/{number}"
                self._fs.create(copies[file.name], content)
            except (OSError, ValueError) as error:
                raise LakekeeperError(f"Spark could not copy {file.name}: {error}") from error
        return copies

    def differing(self, directory: str, copies: Mapping[str, str]) -> list[str]:
        try:
            return [
                name
                for name, copy in copies.items()
                if self._fs.read(f"{directory}/{name}") != self._fs.read(copy)
            ]
        except (OSError, ValueError) as error:
            raise LakekeeperError(f"Spark could not compare the copies: {error}") from error

    def same_rows(self, plan: RewriteRequest, written: Sequence[str]) -> bool | None:
        try:
            return sorted(_read_rows(self._fs, plan.files)) == sorted(_read_rows(self._fs, written))
        except (OSError, ValueError) as error:
            raise LakekeeperError(f"Spark could not read the rows: {error}") from error

    def _write(self, plan: RewriteRequest) -> int:
        staging = f"{plan.target}/_temporary/0"
        self._fs.mkdirs(staging)
        rows = _read_rows(self._fs, plan.files)
        names = self._tasks(plan, rows, staging)
        for name in names:
            if not self._fs.raw_rename(f"{staging}/{name}", f"{plan.target}/{name}"):
                raise FileSystemError(f"Failed to rename {staging}/{name} to {plan.target}/{name}")
        self._fs.delete_tree(f"{plan.target}/_temporary")
        if len(rows) != plan.profile.rows:
            raise VerificationFailed(f"the footers hold {plan.profile.rows} rows, but {len(rows)} were read")
        return len(rows)

    def _tasks(self, plan: RewriteRequest, rows: Sequence[int], staging: str) -> list[str]:
        """Each task writes its part; a task of a job whose folder was renamed away brings that folder back.

        No two writes of a job give one name twice.
        """
        count, folder = max(1, min(plan.target_files, len(rows))), name_of(plan.target)
        job = f"{self._job_name}-{folder}" if folder.startswith("group-") else self._job_name
        names = [f"part-{part:05d}-{job}-c000.snappy.parquet" for part in range(count)]
        for part, name in enumerate(names):
            self._fs.replace(f"{staging}/{name}", encode_rows(rows[part::count]))
        return names


def _read_rows(fs: FileSystem, files: Sequence[str]) -> list[int]:
    rows: list[int] = []
    for file in files:
        found = decode_rows(fs.read(file))
        if found is None:
            raise Unreadable(file, "it is not a Parquet file")
        rows += found
    return rows


def visible_rows(tree: ModelTree, folder: str) -> list[int]:
    """What a reader of a directory sees: the files right in it that are closed and not hidden."""
    return [row for name, inode in tree.files(folder) for row in _visible(name, inode)]


def _visible(name: str, inode: Inode) -> Sequence[int]:
    hidden = name.startswith((".", "_")) or not inode.closed
    return () if hidden else decode_rows(inode.content) or ()
