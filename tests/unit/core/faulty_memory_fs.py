"""A file system in memory whose every call can fail or be the last one, and journals to fill a commit log from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import Record, RunState, state_after
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.model import FileEntry, FileListing, parent
from spark_jobs.protocol.file_system import FileSystem, FileSystemError, Status
from tests.unit.core.run_record import run_body

NOW = datetime(2026, 2, 24, tzinfo=timezone.utc)
HOME = "file:/t/.lakekeeper"


class Crash(BaseException):
    """The process is gone; no handler of the product may see this."""


Fault = Callable[[int, str, bool], None]


def fine(number: int, name: str, done: bool) -> None:
    """No call fails."""


class MemoryFs(FileSystem):
    """`fault` is asked before and after each call, by its number from 1, and raises what is to happen there."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, int]] = {}
        self.folders = {HOME}
        self.time = NOW
        self.calls: list[str] = []
        self.fault: Fault = fine

    def now(self) -> datetime:
        return self.time

    def _call(self, name: str, act: Callable[[], object]) -> object:
        self.calls.append(name)
        number = len(self.calls)
        self.fault(number, name, False)
        found = act()
        self.fault(number, name, True)
        return found

    def _put(self, path: str, data: bytes) -> None:
        if parent(path) not in self.folders:
            raise FileNotFoundError(path)
        self.files[path] = data, int(self.time.timestamp() * 1000)

    def _status(self, path: str) -> Status | None:
        if path in self.folders:
            return Status(path, True, 0, 0)
        data, mtime = self.files.get(path, (b"", -1))
        return Status(path, False, len(data), mtime) if mtime >= 0 else None

    def list(self, path: str) -> Sequence[Status]:
        return self._call("list", lambda: self._list(path))  # type: ignore[return-value]

    def _list(self, path: str) -> list[Status]:
        if path not in self.folders:
            raise FileNotFoundError(path)
        found = [self._status(p) for p in [*self.folders, *self.files] if parent(p) == path]
        return [status for status in found if status]

    def status(self, path: str) -> Status | None:
        return self._call("status", lambda: self._status(path))  # type: ignore[return-value]

    def rename(self, source: str, target: str) -> None:
        self._call("rename", lambda: self._rename(source, target))

    def _rename(self, source: str, target: str) -> None:
        if target in self.files or target in self.folders:
            raise FileExistsError(target)
        if source not in self.files or parent(target) not in self.folders:
            raise FileNotFoundError(source)
        self.files[target] = self.files.pop(source)

    def mkdirs(self, path: str) -> None:
        self._call("mkdirs", lambda: self._mkdirs(path))

    def _mkdirs(self, path: str) -> None:
        while path and path not in self.folders:
            self.folders.add(path)
            path = parent(path)

    def create(self, path: str, data: bytes) -> None:
        def act() -> None:
            if path in self.files:
                raise FileExistsError(path)
            self._put(path, data)

        self._call("create", act)

    def replace(self, path: str, data: bytes) -> None:
        self._call("replace", lambda: self._put(path, data))

    def read(self, path: str) -> bytes:
        return self._call("read", lambda: self._read(path))  # type: ignore[return-value]

    def _read(self, path: str) -> bytes:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][0]

    def delete_file(self, path: str) -> None:
        self._call("delete_file", lambda: self.files.pop(path, None))

    def user(self) -> str:
        return "operator"

    def _never(self, *arguments: object) -> None:
        raise AssertionError(f"the commit log has no business with this: {arguments}")

    def identity(self, path: str) -> str:
        """Nothing is ever renamed away and made anew here."""
        return f"memory:{path}"

    qualify = open_files = touch = delete_empty = _never  # type: ignore[assignment]
    delete_tree = trash = trash_enabled = attributes = set_attributes = _never  # type: ignore[assignment]
    encryption_zone = snapshottable = quota = _never  # type: ignore[assignment]


def failing(at: int, crash: bool, after: bool) -> Fault:
    """The one call fails, before or after it took effect; after a crash there is no further one."""

    def fault(number: int, name: str, done: bool) -> None:
        if crash and number > at:
            raise AssertionError("a dead process goes on")
        if number == at and done is after:
            raise Crash if crash else FileSystemError(f"{name} failed")

    return fault


def files(*names: str, size: int = 10, mtime: int = 1) -> FileListing:
    return FileListing.of(FileEntry(name, size, mtime) for name in names)


def swap(value: str, originals: FileListing, compacted: FileListing, stamp: int = 1) -> Swap:
    spec = (("p", value),)
    old, new, aside = (f"__{name}_{stamp}/p={value}" for name in ("originals", "compact_tmp", "aside"))
    conflict = f"__conflict_{stamp}/p={value}"
    return Swap(spec, f"file:/t/p={value}", new, old, aside, conflict, "L", "N", originals, compacted, 5)


def run_state(*swaps: Swap, minute: int = 0, then: str | None = None, user: str | None = "etl") -> RunState:
    """A run that swapped these units, and what became of all of them `then`."""
    units = [{"unit": s.unit.key} for s in swaps]
    records = [
        Record(journal.RUN, _at(minute), run_body(user=user)),
        Record(journal.PREPARED, _at(minute), {"swaps": [s.to_json() for s in swaps]}),
        Record(journal.COMMITTED, _at(minute + 1), {"units": units}),
    ]
    records += [Record(then, _at(minute + 2), {"units": units})] if then else []
    state = state_after(records)
    assert state is not None
    return state


def _at(minute: int) -> datetime:
    return NOW + timedelta(minutes=minute)
