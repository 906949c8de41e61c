"""The footers that analyses keep: `<home>/log/footers/<unit>-<files>`, one file for each unit of many files.

Both parts of the name are hashes: that of the unit's location, and that of the listing of its files.
"""

from __future__ import annotations

import hashlib
import logging
import re
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from spark_jobs.core.commit_log.kept_footers import KeptFooters, decode, encode
from spark_jobs.core.commit_log.snapshots import BrokenLog
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.layout import LOG, Home
from spark_jobs.core.model import FileListing
from spark_jobs.core.plan import TablePlan
from spark_jobs.protocol.commit_log.hint_folders import make_place
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.services import Services

log = logging.getLogger("lakekeeper")

#: A file of which the compaction never came is deleted after this time by a later analysis.
_KEPT_FOR = timedelta(days=7)
_OURS = re.compile(r"(?P<unit>[0-9a-f]{16})-[0-9a-f]{16}\Z|\.footers-[0-9a-f]{32}\Z")


class FooterStore:
    """The kept footers of one table, in its own home, also for units outside its root.

    They are a hint: without them, a compaction reads all footers. A file is never changed: it is written under a hidden
    name, and renamed.
    """

    def __init__(self, services: Services, table: TablePlan) -> None:
        facts = table.facts
        self._services, self._fs = services, services.fs
        self._home = Home.of_table(facts.storage.location, bool(facts.partition_keys)).path
        self._trust = Trust(services.fs, facts.storage.location, table.options.trusted_owners)
        self.folder = f"{self._home}/{LOG}/footers"

    def find(self, location: str, files: FileListing) -> KeptFooters | None:
        """Return what an analysis has kept of exactly these files; None if there is nothing that counts."""
        fingerprint = files.fingerprint()
        path = self._path(location, fingerprint)
        try:
            found = self._fs.status(path)
            if found is None or not self._trust.counts(found.owner):  # guard: kept_footers_owner
                return None
            kept = decode(self._fs.read(path), path)
        except (BrokenLog, OSError, ArithmeticError) as error:
            log.info("%s does not count: %s", path, error)
            return None
        if (kept.location, kept.files) != (location, fingerprint):  # guard: kept_footers_of_unit
            return None
        return kept

    def keep(
        self, location: str, files: FileListing, footers: Sequence[Footer], listed_after: datetime
    ) -> None:
        """Keep the footers of a unit's files if they are many, and delete outdated ones.

        No error is raised, because they are a hint.

        Args:
            listed_after: a time before the files were listed.
        """
        try:
            kept = KeptFooters.of(location, files, footers, int(listed_after.timestamp() * 1000))
            if kept is not None:
                self._keep(kept)
        except Exception as error:
            log.info("the compaction of %s reads all footers again: %s", location, error)

    def _keep(self, kept: KeptFooters) -> None:
        path = self._path(kept.location, kept.files)
        if make_place(self._fs, self._home, self.folder, worth_a_home=True) and self._fs.status(path) is None:
            self._write(path, encode(kept))

    def _write(self, path: str, data: bytes) -> None:
        staged = f"{self.folder}/.footers-{uuid.uuid4().hex}"
        self._fs.create(staged, data)
        try:
            self._fs.rename(staged, path)
        except OSError:
            self._fs.delete_file(staged)
            raise
        self._delete_outdated(path)

    def _delete_outdated(self, path: str) -> None:
        """Delete the other files of the unit, and those of all units that are older than a week."""
        dead = int((self._services.now() - _KEPT_FOR).timestamp() * 1000)
        unit = _OURS.match(path.rpartition("/")[2])
        for entry in self._fs.list(self.folder):
            ours = _OURS.match(entry.name)
            of_unit = ours and unit and ours["unit"] == unit["unit"]
            if ours and entry.path != path and (of_unit or entry.mtime < dead):
                self._fs.delete_file(entry.path)

    def delete(self, location: str, files: FileListing) -> None:
        """Delete what was kept of these files: they were compacted, or it was wrong."""
        path = self._path(location, files.fingerprint())
        try:
            self._fs.delete_file(path)
        except OSError as error:
            log.info("could not delete %s: %s", path, error)

    def _path(self, location: str, fingerprint: str) -> str:
        unit = hashlib.sha256(location.encode()).hexdigest()[:16]
        return f"{self.folder}/{unit}-{fingerprint.rpartition(':')[2][:16]}"
