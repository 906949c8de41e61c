"""The footers that analyses keep: `<home>/log/footers/<unit>-<files>`, one file for each unit of many files.

Both parts of the name are hashes: of the unit's location, and of the listing of its files.
"""

from __future__ import annotations

import hashlib
import logging
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.registry import has_footer
from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.core.planning.kept_footers import KeptFooters, decode, encode
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.record_files import MOST_BYTES
from spark_jobs.core.records.snapshots import BrokenLog
from spark_jobs.core.values.layout import LOG, Home
from spark_jobs.core.values.model import FileListing, name_of
from spark_jobs.protocol.commit_log.hint_directories import ensure_hint_directory, write_hint
from spark_jobs.protocol.file_system import FileSystemError, Status
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")

#: A file whose compaction never came is deleted by an analysis after this time.
_KEPT_FOR = timedelta(days=7)
_OURS = re.compile(r"(?P<unit>[0-9a-f]{16})-[0-9a-f]{16}\Z|\.footers-[0-9a-f]{32}\Z")


class FooterStore:
    """The kept footers of one table, each in the home of its unit: there the originals will be, in the same zone.

    They are a hint: without them, a compaction reads all footers. A file is never changed: it is written under a hidden
    name, and renamed. Each directory is listed once.
    """

    def __init__(self, services: Services, table: TablePlan) -> None:
        self._services, self._fs = services, services.fs
        self._root = table.facts.storage.location
        own = Home.of_table(self._root, bool(table.facts.partition_keys))
        self._own = f"{own.path}/{LOG}/footers"
        self._trusted = table.options.trusted_owners
        self._trust = Trust(services.fs, self._root, self._trusted)
        self._has_footers = has_footer(table.file_format)
        self._listings: dict[str, dict[str, Status]] = {}
        self._closed: set[str] = set()

    def find(self, location: str, files: FileListing) -> KeptFooters | None:
        """Return what an analysis has kept of exactly these files; None if there is nothing that counts."""
        if not self._has_footers or not KeptFooters.worth(len(files.files)):
            return None
        fingerprint = files.fingerprint
        path = self._path(location, fingerprint)
        status = self._listing(self._directory(location)).get(name_of(path))
        if status is None or not self._trust.counts(status.owner):  # guard: kept_footers_owner
            return None
        if status.length > MOST_BYTES:
            return None
        try:
            kept = decode(self._fs.read(path), path)
        except (BrokenLog, OtherVersion, OSError) as error:
            log.info("%s does not count: %s", path, error)
            return None
        now = (location, fingerprint, self._services.environment)
        if (kept.location, kept.files, kept.environment) != now:  # guard: kept_footers_of_unit
            return None
        return kept

    def keep(
        self, location: str, files: FileListing, footers: Sequence[Footer], listed_after: datetime
    ) -> None:
        """Keep the footers of a unit's files if they are many. Then delete the footers of its earlier files.

        No error is raised, because they are a hint.

        Args:
            listed_after: a time before the files were listed.
        """
        if not self._has_footers or not KeptFooters.worth(len(files.files)):
            return
        at = int(listed_after.timestamp() * 1000)
        try:
            kept = KeptFooters.of(location, files, footers, self._services.environment, at)
            if kept is not None and self.find(location, files) is None:
                self._keep(kept)
        except Exception as error:
            log.info("the footers of %s are not kept for its compaction: %s", location, error)

    def delete(self, location: str, files: FileListing) -> None:
        """Delete what was kept of these files, which was wrong, or is not needed any more."""
        path = self._path(location, files.fingerprint)
        if name_of(path) in self._listings.get(self._directory(location), {}):
            self._delete(path)

    def expire(self, units: Sequence[UnitPlan]) -> None:
        """Delete what an analysis has kept in the table's own home more than a week ago. No error is raised.

        Args:
            units: the plan's. What was kept of large units that wait for a compaction stays.
        """
        if not self._has_footers:
            return
        dead = int((self._services.now() - _KEPT_FOR).timestamp() * 1000)
        waiting = {
            _hash(each.unit.location)
            for each in units
            if each.flagged and each.health and KeptFooters.worth(each.health.files)
        }
        for entry in list(self._listing(self._own).values()):
            ours = _OURS.match(entry.name)
            if ours and entry.mtime < dead and ours["unit"] not in waiting:
                self._delete(entry.path)

    def _keep(self, kept: KeptFooters) -> None:
        path, directory = self._path(kept.location, kept.files), self._directory(kept.location)
        if self._ensure(directory):
            self._delete_earlier(directory, path)
            write_hint(self._fs, f"{directory}/.footers-{uuid.uuid4().hex}", path, encode(kept))

    def _ensure(self, directory: str) -> bool:
        """Create the directory if that is allowed. Only this account may look into it, as bounds are values of rows.

        With `trusted_owners` the group may, because these accounts continue each other's work.

        Raises:
            FileSystemError: other accounts cannot be kept out.
        """
        if directory in self._closed:
            return True
        if not ensure_hint_directory(self._fs, directory, worth_a_home=True):
            return False
        attributes, unwanted = self._fs.attributes(directory), 0o007 if self._trusted else 0o077
        if attributes.mode & unwanted or attributes.acl:
            wanted = replace(attributes, mode=attributes.mode & ~unwanted, acl=())
            for lost in self._fs.set_attributes(directory, wanted):
                raise FileSystemError(f"other accounts cannot be kept out of {directory}: {lost.reason}")
        self._closed.add(directory)
        return True

    def _delete_earlier(self, directory: str, path: str) -> None:
        """Delete the files of the unit, also one of the same files: it was found not to count."""
        for entry in list(self._listing(directory).values()):
            ours = _OURS.match(entry.name)
            if ours and ours["unit"] == name_of(path)[:16]:
                self._delete(entry.path)

    def _delete(self, path: str) -> None:
        try:
            self._fs.delete_file(path)
        except OSError as error:
            log.info("could not delete %s: %s", path, error)
        self._listings.get(path.rpartition("/")[0], {}).pop(name_of(path), None)

    def _listing(self, directory: str) -> dict[str, Status]:
        """Return the entries of a directory by name, as they were when it was first asked for."""
        if directory not in self._listings:
            try:
                self._listings[directory] = {entry.name: entry for entry in self._fs.list(directory)}
            except OSError:
                self._listings[directory] = {}
        return self._listings[directory]

    def _directory(self, location: str) -> str:
        return f"{Home.of(self._root, location).path}/{LOG}/footers"

    def _path(self, location: str, fingerprint: str) -> str:
        return f"{self._directory(location)}/{_hash(location)}-{fingerprint.rpartition(':')[2][:16]}"


def _hash(location: str) -> str:
    return hashlib.sha256(location.encode("utf-8", "surrogatepass")).hexdigest()[:16]
