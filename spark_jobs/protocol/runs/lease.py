"""Who may work in a home: a lease that is made once, kept alive by touching it, and taken over when it is not.

`lease-<epoch>` is created exclusively and never overwritten; the highest epoch owns. A lease does not stop a process
that was only asleep: renaming the run folders that it worked in does (`runs.take_over`), once the lease is ours.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from spark_jobs.core.errors import Busy, LeaseLost
from spark_jobs.core.layout import LeaseFile
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")
_POLL_SECONDS = 2.0


@dataclass(frozen=True)
class LeaseOptions:
    """How long a lease lives without a heartbeat, how long to wait for somebody else's, and for what it is wanted."""

    verb: str
    expiry: float = 20.0
    wait: float = 60.0
    until: datetime | None = None


class Lease:
    """The right to work in one home; `taken` is when it was made, in ms since the epoch by the file system's clock."""

    def __init__(self, services: Services, home: str, file: LeaseFile, taken: int) -> None:
        self.taken = taken
        self._services = services
        self._fs = services.fs
        self._home = home
        self._file = file

    @property
    def _path(self) -> str:
        return f"{self._home}/{self._file.name}"

    def renew(self) -> None:
        """Shows that this process is alive; whether the lease is still its own is `check`'s to say."""
        try:
            self._fs.touch(self._path, int(self._services.now().timestamp() * 1000))
        except OSError as error:
            log.warning("the lease in %s could not be renewed: %s", self._home, error)

    def is_ours(self) -> bool:
        top = _highest(self._fs, self._home)
        return top is not None and top.file == self._file

    def check(self) -> None:
        """Raises LeaseLost if somebody has taken the home over: then nothing may be changed here any more."""
        if not self.is_ours():
            raise LeaseLost(
                f"another job has taken {self._home} over, for this one did not answer for a while"
            )

    def release(self) -> None:
        """Lets the next one in at once. Whatever goes wrong here, the lease expires by itself."""
        try:
            self._fs.rename(self._path, f"{self._home}/{replace(self._file, released=True).name}")
        except OSError as error:
            log.warning("the lease in %s could not be released: %s", self._home, error)


@dataclass(frozen=True)
class _Seen:
    """A lease as it was seen: nothing but a change of it shows that its owner lives."""

    file: LeaseFile
    mtime: int


def _list_leases(fs: RecordFiles, home: str) -> list[_Seen]:
    parsed = ((LeaseFile.parse(status.name), status.mtime) for status in fs.list(home))
    return [_Seen(file, mtime) for file, mtime in parsed if file is not None]


def _highest(fs: RecordFiles, home: str) -> _Seen | None:
    """A released lease counts after the same one unreleased: a release is the last thing that happens to it."""
    return max(_list_leases(fs, home), key=lambda seen: (seen.file.epoch, seen.file.released), default=None)


def held_lease(fs: RecordFiles, home: str) -> tuple[str, int] | None:
    """Return the path of the lease that is held in a home, and when it was renewed (ms); None if nobody holds one."""
    try:
        seen = _highest(fs, home)
    except FileNotFoundError:
        return None
    return None if seen is None or seen.file.released else (f"{home}/{seen.file.name}", seen.mtime)


class LeaseSet:
    """All the leases that one verb holds on the homes of a table, with one heartbeat for them."""

    def __init__(self, services: Services, lease_options: LeaseOptions) -> None:
        self._services = services
        self._lease_options = lease_options
        self._owner = uuid.uuid4().hex
        self._held: dict[str, Lease] = {}
        self._watched: dict[str, LeaseFile | None] = {}
        self._lock = threading.Lock()
        self._stop = services.clock.every(lease_options.expiry / 2, self._renew_all)
        self.waited = False

    def __enter__(self) -> LeaseSet:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        for lease in self._held.values():
            lease.release()

    def _renew_all(self) -> None:
        with self._lock:
            held = list(self._held.values())
        for lease in held:
            lease.renew()

    def watch(self, homes: Iterable[str]) -> None:
        """Notes who worked in these homes last: where it is somebody else by the time that the lease is taken, what was
        seen in between counts for nothing, and `waited` says so."""
        for home in set(homes) - self._held.keys():
            try:
                seen = _highest(self._services.fs, home)
            except FileNotFoundError:
                seen = None
            self._watched[home] = seen.file if seen else None

    def take(self, homes: Iterable[str]) -> None:
        """Leases on all these homes, in an order that is the same for everybody; raises Busy and OSError."""
        for home in sorted(set(homes) - self._held.keys()):
            lease = self._acquire(home)
            with self._lock:
                self._held[home] = lease

    def require(self, home: str) -> None:
        """Raise LeaseLost where no lease was taken: what is found there now did not exist just before."""
        if home not in self._held:
            raise LeaseLost(f"another job used {home} just now; try again")

    def check(self) -> None:
        """Raises LeaseLost unless every lease is still ours."""
        for lease in self._held.values():
            lease.check()

    def taken(self) -> datetime | None:
        """What time it was where the files are when the first lease was taken; None while there is none."""
        millis = min((lease.taken for lease in self._held.values()), default=None)
        return None if millis is None else datetime.fromtimestamp(millis / 1000, timezone.utc)

    def _acquire(self, home: str) -> Lease:
        """Waits while the owner shows signs of life, by this machine's own clock: clocks of others say nothing."""
        clock, fs = self._services.clock, self._services.fs
        fs.mkdirs(home)
        started = since = clock.monotonic()
        seen = _highest(fs, home)
        if home in self._watched and self._watched[home] != (seen.file if seen else None):
            self.waited = True
        while seen is not None and not seen.file.released:  # guard: living_owner
            now = clock.monotonic()
            if now - since >= self._lease_options.expiry:
                log.warning(
                    "the owner of %s has not answered for %.0f s; taking over", seen.file.name, now - since
                )
                break
            self._check_wait_limit(home, seen, now - started)
            self.waited = True
            clock.sleep(min(_POLL_SECONDS, self._lease_options.expiry / 4))
            latest = _highest(fs, home)
            if latest != seen:
                seen, since = latest, clock.monotonic()
        return self._create(home, seen)

    def _check_wait_limit(self, home: str, seen: _Seen, waited: float) -> None:
        until = self._lease_options.until
        if waited < self._lease_options.wait and not (until and self._services.now() >= until):
            return
        raise Busy(
            f"another job is at work in {home} ({self._describe(home, seen)}); it was waited for {waited:.0f} s."
            " Try again later"
        )

    def _describe(self, home: str, seen: _Seen) -> str:
        try:
            known = json.loads(self._services.fs.read(f"{home}/{seen.file.name}"))
            return f"{known['verb']} on {known['host']}, process {known['pid']}, since {known['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return seen.file.name

    def _create(self, home: str, seen: _Seen | None) -> Lease:
        file = LeaseFile((seen.file.epoch if seen else 0) + 1, released=False)
        path = f"{home}/{file.name}"
        try:
            self._services.fs.create(path, self._content())
        except OSError as error:
            if not self._is_mine(path):
                if isinstance(error, FileExistsError):
                    return self._acquire_again(home)
                raise
        top = _highest(self._services.fs, home)
        if top is None or top.file != file:
            return self._acquire_again(home)
        self._forget_older(home, file)
        return Lease(self._services, home, file, top.mtime)

    def _acquire_again(self, home: str) -> Lease:
        """Somebody was quicker, and may have done work that this one has not seen."""
        self.waited = True
        return self._acquire(home)

    def _content(self) -> bytes:
        return json.dumps(
            {
                "owner": self._owner,
                "verb": self._lease_options.verb,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "since": self._services.now().isoformat(),
            }
        ).encode()

    def _is_mine(self, path: str) -> bool:
        """An error after success, told by what lies there."""
        try:
            return bool(json.loads(self._services.fs.read(path))["owner"] == self._owner)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _forget_older(self, home: str, mine: LeaseFile) -> None:
        """Lower epochs own nothing any more; only the highest is ever looked at."""
        for seen in _list_leases(self._services.fs, home):
            if seen.file.epoch < mine.epoch:
                try:
                    self._services.fs.delete_file(f"{home}/{seen.file.name}")
                except OSError as error:
                    log.warning("an old lease in %s stays: %s", home, error)
