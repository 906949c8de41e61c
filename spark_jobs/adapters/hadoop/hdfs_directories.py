"""Reads what HDFS has for a directory besides its files: encryption zones, snapshots and quotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import java_errors, root_cause
from spark_jobs.core.rules.quota import Quota

#: The default quota of the root directory of HDFS: it limits nothing.
_UNLIMITED = 2**63 - 1
#: Exceptions of a server or a client that does not support a call, and so does not have the feature.
_UNKNOWN = ("UnsupportedOperationException", "RpcNoSuchMethodException", "RpcNoSuchProtocolException")


class HdfsDirectories:
    """Reads these properties from the NameNode. Only for paths of HDFS: other file systems do not have them."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm

    def encryption_zone(self, fs: Any, path: Any) -> str | None:
        zone = _answer(lambda: fs.getEZForPath(path))
        return str(fs.makeQualified(self._jvm.org.apache.hadoop.fs.Path(zone.getPath()))) if zone else None

    def snapshottable(self, fs: Any, path: Any) -> bool:
        """Tell whether the directory is snapshottable: then it has a `.snapshot`, which all users can see.

        The list of snapshottable directories has only those of the current user, so it is not used.
        """
        return bool(fs.exists(self._jvm.org.apache.hadoop.fs.Path(path, ".snapshot")))

    def quota(self, fs: Any, path: Any) -> Quota | None:
        """Return the quotas of a directory.

        Without a quota, HDFS counts all files below: do not call this for the root of a large tree that has none.
        """
        usage = self._usage(fs, path)
        if usage is None:
            return None
        names, space = _limit(usage.getQuota()), _limit(usage.getSpaceQuota())
        if names is None and space is None and not usage.isTypeQuotaSet():
            return None
        used = usage.getFileAndDirectoryCount(), usage.getSpaceConsumed()
        return Quota(str(path.toString()), names, used[0], space, used[1])

    def _usage(self, fs: Any, path: Any) -> Any:
        """Return the usage; None if the account may not read all directories below.

        The quota is not checked then, but HDFS enforces it.
        """
        try:
            with java_errors(f"cannot look up the quota of {path}"):
                return _answer(lambda: fs.getQuotaUsage(path))
        except PermissionError:
            return None


def _answer(ask: Callable[[], Any]) -> Any:
    """Return the result of a call; None if the server does not support the call.

    The class of the error decides, because its message may contain the same words in a path.
    """
    try:
        return ask()
    except Py4JJavaError as error:
        if root_cause(error)[0].endswith(_UNKNOWN):
            return None
        raise
    except Py4JError:
        return None  # this client's class has no such method


def _limit(value: int) -> int | None:
    return None if value < 0 or value >= _UNLIMITED else int(value)
