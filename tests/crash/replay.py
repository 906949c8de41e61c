"""One script, on the model and on a real file system: what each of them says, in words that can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spark_jobs.core.values.attributes import Attributes
from spark_jobs.core.values.model import name_of
from spark_jobs.protocol.file_system import FileSystem

#: One call: the name of a method, or of one of the runner's own words, and its arguments. Paths begin with `/`.
Step = tuple[Any, ...]


class Stream(Protocol):
    """A file that another client holds open; `hsync` tells the length too."""

    def write(self, data: bytes) -> None: ...
    def hflush(self) -> None: ...
    def hsync(self) -> None: ...
    def close(self) -> None: ...


class Host(Protocol):
    """What a script needs besides the jobs' own file system; paths are whole URIs."""

    def open_stream(self, path: str, data: bytes) -> Stream: ...
    def mode(self, path: str) -> int: ...
    def pause(self) -> None:
        """Lets so much time pass that a change can be seen in a modification time."""

    def grant(self, path: str, owner: str, mode: int) -> None:
        """As the superuser; the owner is `me` or `other`."""

    def raw_rename(self, source: str, target: str) -> bool:
        """`FileSystem.rename`, as Spark's committers call it."""

    def kept(self, path: str) -> str:
        """Where the trash keeps what lay there."""


class Script:
    """Runs the steps below `root`."""

    def __init__(self, fs: FileSystem, root: str, host: Host) -> None:
        self._fs = fs
        self._root = root
        self._host = host
        self._streams: dict[str, Stream] = {}
        self._identities: dict[str, int] = {}
        self._times: dict[str, int] = {}

    def run(self, steps: Sequence[Step]) -> list[object]:
        return [self._observe(*step) for step in steps]

    def _observe(self, op: str, *args: Any) -> object:
        words = [
            f"{self._root}{arg}".rstrip("/") if isinstance(arg, str) and arg.startswith("/") else arg
            for arg in args
        ]
        own = getattr(self, f"_{op}", None)
        try:
            return self._plain(own(*words) if own else getattr(self._fs, op)(*words))
        except OSError as error:
            return type(error).__name__

    def _plain(self, found: Any) -> object:
        return sorted(found) if isinstance(found, list) else found

    def _list(self, path: str) -> list[tuple[str, object]]:
        return sorted((status.name, _size(status)) for status in self._fs.list(path))

    def _status(self, path: str) -> tuple[str, object] | None:
        status = self._fs.status(path)
        return status and (name_of(status.path), _size(status))

    def _identity(self, path: str) -> int | None:
        """The number of the directory, in the order in which they were first seen."""
        found = self._fs.identity(path)
        return None if found is None else self._identities.setdefault(found, len(self._identities))

    def _mtime(self, path: str) -> str:
        status = self._fs.status(path)
        assert status is not None
        before, self._times[path] = self._times.get(path), status.mtime
        self._host.pause()
        return "first" if before is None else "later" if status.mtime > before else "same"

    def _exact_mtime(self, path: str) -> int | None:
        status = self._fs.status(path)
        return status and status.mtime

    def _mode_of(self, path: str) -> str:
        return oct(self._host.mode(path))

    def _open(self, path: str, data: bytes) -> None:
        self._streams[path] = self._host.open_stream(path, data)

    def _write(self, path: str, data: bytes) -> None:
        self._streams[path].write(data)

    def _flush(self, path: str) -> None:
        self._streams[path].hflush()

    def _sync(self, path: str) -> None:
        self._streams[path].hsync()

    def _close(self, path: str) -> None:
        self._streams.pop(path).close()

    def _set_attributes(self, path: str, mode: int) -> list[str]:
        """Return the kinds of attributes that could not be set."""
        return [lost.kind for lost in self._fs.set_attributes(path, Attributes(mode))]

    def _raw_rename(self, source: str, target: str) -> bool:
        return self._host.raw_rename(source, target)

    def _grant(self, path: str, owner: str, mode: int) -> None:
        self._host.grant(path, owner, mode)

    def _trashed(self, path: str) -> list[str]:
        """The names of a folder in the trash; a version beside an older one has the time added."""
        return sorted(_STAMP.sub("<ms>", status.name) for status in self._fs.list(self._host.kept(path)))


_STAMP = re.compile(r"\d{13}\Z")


def _size(status: Any) -> object:
    return "folder" if status.is_dir else status.length


class Stopped(BaseException):
    """The process is dead; nothing of the jobs catches this."""


class Recording(FileSystem):
    """Any file system, with its calls written down, and cut off after one of them.

    Heartbeats come when they please and are no calls here; listings come in the order of their names.
    """

    def __init__(self, inner: FileSystem, root: str, stop_after: Callable[[str], bool] | None = None) -> None:
        self.calls: list[str] = []
        self.dead = False
        self._inner = inner
        self._root = root
        self._stop_after = stop_after

    def _call(self, op: str, *args: Any) -> Any:
        if self.dead:
            raise Stopped
        words = [arg.removeprefix(self._root) if isinstance(arg, str) else "" for arg in args]
        call = " ".join([op, *words]).strip()
        if op != "touch":
            self.calls.append(call)
        found = getattr(self._inner, op)(*args)
        if self._stop_after and self._stop_after(call):
            self.dead = True
            raise Stopped
        return sorted(found, key=lambda status: status.path) if op == "list" else found

    def qualify(self, path: str) -> str:
        return self._inner.qualify(path)

    def user(self) -> str:
        return self._inner.user()


def _recorded(op: str) -> Callable[..., Any]:
    return lambda self, *args: self._call(op, *args)


_NOT_CALLS = ("qualify", "user")
for _name in sorted(FileSystem.__abstractmethods__ - set(_NOT_CALLS)):
    setattr(Recording, _name, _recorded(_name))
Recording.__abstractmethods__ = frozenset()

_TOKEN = re.compile(
    r"(?P<data>part-(?:(?!-lk)[^/ ])*(?P<fresh>-lk[0-9a-f]{8})?[^/ ]*)"
    r"|(?P<hex>[0-9a-f]{32}|(?<=\.)[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f-]{27})"
    r"|__(?P<use>originals|compact_tmp|aside|conflict|claimed)_(?P<stamp>\d{10})"
)


def comparable(calls: Sequence[str]) -> list[str]:
    """Random names as the number of their first use, data files without names, and waiting for a lease as one look.

    A stamp counts by the use of its folder: whether two of them began in the same second is up to the machine.

    A mode is copied from the data file that sorts first: which one that is, is up to Spark's random names.
    """
    numbers: dict[tuple[str, str], int] = {}

    def rename(match: re.Match[str]) -> str:
        if match["data"]:
            return "<carried>" if match["fresh"] else "<data>"
        use, name = ("", match["hex"]) if match["hex"] else (f"__{match['use']}_", match["stamp"])
        return f"{use}<{numbers.setdefault((use, name), len(numbers))}>"

    named = [_TOKEN.sub(rename, call) for call in calls]
    named = [
        call.replace("<carried>", "<data>") if call.startswith("attributes ") else call for call in named
    ]
    return [call for before, call in zip([None, *named], named) if call != before]  # noqa: B905
