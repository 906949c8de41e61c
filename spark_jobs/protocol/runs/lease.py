"""Leases: the right to change a home.

A lease is the file `lease-<epoch>`. It is created exclusively and never overwritten, and the highest epoch owns the
home. Its owner touches it regularly; without that, another job takes it over. A lease does not stop a process that
only slept: the new owner fences it off by renaming the directories of its runs (`run_lifecycle.take_over`).
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
from datetime import datetime, timedelta

from spark_jobs.core.messages.errors import Busy, LeaseLost
from spark_jobs.core.values.file_times import time_of
from spark_jobs.core.values.layout import LeaseFile
from spark_jobs.core.values.numbered_names import following
from spark_jobs.protocol.runs.home_format import create_home
from spark_jobs.protocol.runs.lease_files import Seen, described, highest, list_names, read_content
from spark_jobs.protocol.runs.rights import writing_in
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")
_POLL_SECONDS = 2.0


@dataclass(frozen=True)
class LeaseOptions:
    """The options of leases.

    Attributes:
        expiry: seconds without a heartbeat after which a lease is taken over.
        wait: seconds to wait for the lease of another job.
        until: after this time, only the lease of an owner that seems to be dead is waited for: until it expires.
    """

    verb: str
    expiry: float = 20.0
    wait: float = 60.0
    until: datetime | None = None


class Lease:
    """The lease of one home.

    Attributes:
        taken: when it was created, in ms since the epoch by the file system's clock.
        since: the same, in seconds of the clock that never jumps.
    """

    def __init__(self, services: Services, home: str, file: LeaseFile, taken: int) -> None:
        self.taken = taken
        self.since = services.clock.monotonic()
        self._services = services
        self._fs = services.fs
        self._home = home
        self._file = file

    @property
    def _path(self) -> str:
        return f"{self._home}/{self._file.name}"

    def renew(self) -> None:
        """Touch the lease file. Whether the lease is still held is not checked here."""
        try:
            with self._fs.at_once():  # Behind a queue of limited calls, the lease would expire.
                self._fs.touch(self._path, int(self._services.now().timestamp() * 1000))
        except OSError as error:
            log.warning(
                "the lease in %s could not be renewed: %s; the next heartbeat tries again", self._home, error
            )

    def is_ours(self) -> bool:
        """Tell whether this lease has the highest epoch of its home."""
        top = highest(self._fs, self._home)
        return top is not None and top.file == self._file

    def check(self) -> None:
        """Raise LeaseLost if another job has taken the home over. Then nothing may be changed any more."""
        if not self.is_ours():
            raise LeaseLost(
                f"another job has taken over the lease in {self._home}, because this one did not renew it in time;"
                " this job changes nothing more there. Try again"
            )

    def release(self) -> None:
        """Mark the lease as released, so that nobody waits for it. If this fails, the lease expires."""
        try:
            self._fs.rename(self._path, f"{self._home}/{replace(self._file, released=True).name}")
        except FileNotFoundError:
            log.debug("the lease in %s is gone: its home was deleted, or it was taken over", self._home)
        except OSError as error:
            log.warning(
                "the lease in %s could not be released: %s; other jobs wait until it expires",
                self._home,
                error,
            )


class LeaseSet:
    """The leases that one verb holds on the homes of a table, with one heartbeat for all of them.

    Attributes:
        waited: another job was active in one of the homes since `watch`, or had to be waited for.
    """

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
        """Note the current lease of each home.

        If it is another one when the lease is taken, a job was active in between: `waited` is set, and what was read
        before is outdated.
        """
        for home in set(homes) - self._held.keys():
            try:
                seen = highest(self._services.fs, home)
            except FileNotFoundError:
                seen = None
            self._watched[home] = seen.file if seen else None

    def take(self, homes: Iterable[str]) -> None:
        """Take the leases of these homes, in an order that is the same for all jobs, so that there is no deadlock.

        Raises:
            Busy: another job did not release a lease in time.
            OSError: a call of the file system failed.
        """
        for home in sorted(set(homes) - self._held.keys()):
            # A limit of calls must not delay this: the heartbeat begins after it.
            with writing_in(self._services.fs, home), self._services.fs.at_once():
                lease = self._acquire(home)
            with self._lock:
                self._held[home] = lease

    def require(self, home: str) -> None:
        """Raise LeaseLost if the lease of this home is not held: another job has just created what was found in it."""
        if home not in self._held:
            raise LeaseLost(
                f"another job has just created a run in {home}, whose lease this job does not hold; try again"
            )

    def holds(self, home: str) -> bool:
        """Tell whether a lease was taken on this home."""
        return home in self._held

    def check(self) -> None:
        """Raise LeaseLost if another job has taken over one of the leases."""
        for lease in self._held.values():
            lease.check()

    def taken(self) -> datetime | None:
        """Return when the first lease was taken, by the clock of the file system; None without a lease."""
        millis = min((lease.taken for lease in self._held.values()), default=None)
        return None if millis is None else time_of(millis)

    def clocks(self) -> list[datetime]:
        """Return the time now by each known clock: this driver's, and with a lease the file system's."""
        times, elapsed = [self._services.now()], self._services.clock.monotonic()
        for lease in self._held.values():
            times.append(time_of(lease.taken) + timedelta(seconds=elapsed - lease.since))
        return times

    def _acquire(self, home: str) -> Lease:
        """Wait for the current owner, then create the next lease.

        Only the monotonic clock of this machine is used: clocks of two machines are never compared.
        """
        clock, fs = self._services.clock, self._services.fs
        create_home(fs, home)
        started, announced, alive = clock.monotonic(), False, False
        seen, since = highest(fs, home), clock.monotonic()
        if home in self._watched and self._watched[home] != (seen.file if seen else None):
            self.waited = True
        while seen is not None and not seen.file.released:  # guard: living_owner
            now = clock.monotonic()
            if now - since >= self._lease_options.expiry:
                log.warning(
                    "the lease %s/%s was not renewed for %.0f s; this job takes it over",
                    home,
                    seen.file.name,
                    now - since,
                )
                break
            self._check_wait_limit(home, seen, now - started, alive=alive)
            if not announced:
                other, limit = self._describe(home, seen), self._lease_options.wait
                log.info("waiting for another job (%s), at most %.0f s", other, limit)
                announced = True
            self.waited = True
            clock.sleep(min(_POLL_SECONDS, self._lease_options.expiry / 4))
            asked = clock.monotonic()
            latest = highest(fs, home)
            answered = clock.monotonic()
            # While the server does not answer, the heartbeat of a living owner waits too.
            since = answered if latest != seen else since + answered - asked  # guard: stalled_server
            alive = alive or latest != seen
            seen = latest
        return self._create(home, seen)

    def _check_wait_limit(self, home: str, seen: Seen, waited: float, *, alive: bool) -> None:
        """Raise Busy where the wait is over.

        Args:
            alive: the owner has renewed its lease, or another has come, while it was waited for.
        """
        options = self._lease_options
        over = options.until is not None and self._services.now() >= options.until
        # A dead owner is waited for: what it has begun, a missing partition too, must not wait for the next night.
        if waited < options.wait and not (over and alive):  # guard: recovery_after_deadline
            return
        raise Busy(
            f"another job works in {home} ({self._describe(home, seen)}); waited {waited:.0f} s for it."
            " Try again later"
        )

    def _describe(self, home: str, seen: Seen) -> str:
        known = read_content(self._services.fs, f"{home}/{seen.file.name}", seen.length)
        return described(known) or seen.file.name

    def _create(self, home: str, seen: Seen | None) -> Lease:
        file = LeaseFile(following(seen.file.epoch if seen else 0, home), released=False)
        path = f"{home}/{file.name}"
        try:
            self._services.fs.create(path, self._content())
        except OSError as error:
            if not self._is_mine(path):
                if isinstance(error, FileExistsError):
                    return self._acquire_again(home)
                raise
        top = highest(self._services.fs, home)
        if top is None or top.file != file:
            return self._acquire_again(home)
        self._delete_older(home, file)
        return Lease(self._services, home, file, top.mtime)

    def _acquire_again(self, home: str) -> Lease:
        """Start again: another job has created the lease, and may have changed what was read before."""
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
        """Tell whether this job has created the file: a call may fail after the server has executed it."""
        return bool(read_content(self._services.fs, path).get("owner") == self._owner)

    def _delete_older(self, home: str, mine: LeaseFile) -> None:
        """Delete lease files of lower epochs, which have no effect any more."""
        for seen, name in list_names(self._services.fs, home):
            if seen is None and name.startswith("lease-"):
                log.warning("%s/%s is ignored: no job gives this name to a lease", home, name)
            if seen is not None and seen.file.epoch < mine.epoch:
                try:
                    self._services.fs.delete_file(f"{home}/{seen.file.name}")
                except OSError as error:
                    log.warning("an old lease in %s could not be deleted: %s; it has no effect", home, error)
