"""What HDFS ties to a directory besides its files: encryption zones, snapshots, quotas; other systems have none."""

from __future__ import annotations

from typing import Any

from spark_jobs.core.quota import Quota
from spark_jobs.shell.hadoop_attributes import known
from spark_jobs.shell.java_errors import java_errors

#: The root's own limits, which nobody has set.
_ENDLESS = 2**63 - 1


class HdfsDirectories:
    """Asks the NameNode; one that does not know a question has no such thing."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._without_quota: set[str] = set()

    def encryption_zone(self, fs: Any, path: Any) -> str | None:
        zone = known(lambda: fs.getEZForPath(path)) if _is_hdfs(path) else None
        return str(fs.makeQualified(self._jvm.org.apache.hadoop.fs.Path(zone.getPath()))) if zone else None

    def snapshottable(self, fs: Any, path: Any) -> bool:
        """Such a directory alone shows a `.snapshot`, to everybody; the list of them shows each user his own."""
        return _is_hdfs(path) and bool(fs.exists(self._jvm.org.apache.hadoop.fs.Path(path, ".snapshot")))

    def quota(self, fs: Any, path: Any) -> Quota | None:
        """Where there is no quota, HDFS counts all that is below: asked once in a job."""
        name = str(path.toString())
        if not _is_hdfs(path) or name in self._without_quota:
            return None
        usage = self._usage(fs, path)
        names, space = (_limit(usage.getQuota()), _limit(usage.getSpaceQuota())) if usage else (None, None)
        if names is None and space is None:
            self._without_quota.add(name)
            return None
        return Quota(name, names, usage.getFileAndDirectoryCount(), space, usage.getSpaceConsumed())

    def _usage(self, fs: Any, path: Any) -> Any:
        """None for who may not look at all below: HDFS has the last word anyway, when something is written."""
        try:
            with java_errors(f"cannot look up the quota of {path}"):
                return known(lambda: fs.getQuotaUsage(path))
        except PermissionError:
            return None


def _is_hdfs(path: Any) -> bool:
    return str(path.toUri().getScheme()) == "hdfs"


def _limit(value: int) -> int | None:
    return None if value < 0 or value >= _ENDLESS else int(value)
