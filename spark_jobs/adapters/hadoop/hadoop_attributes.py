"""Reads and sets attributes through Hadoop's client. An attribute that a file system does not support is None."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import root_cause
from spark_jobs.adapters.hadoop.statuses import StatusReader, mode_of
from spark_jobs.core.records.journal_bounds import server_of
from spark_jobs.core.values import attributes
from spark_jobs.core.values.attributes import Attributes, LostAttribute
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: The policy without erasure coding: as many copies as the replication says.
_REPLICATED = "REPLICATION"
#: Namespaces that belong to users; the others are the file system's own.
_USER_XATTRS = ("user.", "trusted.")
#: Words in the errors of a server that does not support a call, or that has the feature switched off.
_UNKNOWN = ("Unknown method", "disabled", "not support")
#: A path in an error message. It is ignored, because a file name may contain the same words.
_PATHS = re.compile(r"\S*/\S*")


class HadoopAttributes:
    """The attributes of paths. What a file system, or its server, does not support is asked for only once."""

    def __init__(self, jvm: Any, statuses: StatusReader, calls: NameNodeCalls) -> None:
        self._jvm = jvm
        self._calls = calls
        self._statuses = statuses
        self._unsupported: set[tuple[str, str]] = set()
        #: By server, kind of policy, and the policy as a status has it: what the server calls it.
        self._policies: dict[tuple[str, str, str], str | None] = {}

    def read(self, fs: Any, path: Any, uri: str) -> Attributes:
        """Return all attributes of a path, by a few calls. Java exceptions are not translated here."""
        self._calls.take(uri)
        status, server = fs.getFileStatus(path), server_of(uri)
        row = self._statuses.row(status)
        return Attributes(
            mode=mode_of(row),
            owner=row["owner"] or None,
            group=row["group"] or None,
            acl=()
            if _has_no_acl(row)
            else self.known(server, "acl", lambda: self._acl(fs, path, status)) or (),
            xattrs=self.known(server, "xattrs", lambda: _xattrs(fs, path)) or {},
            storage_policy=self._policy(
                server, row, "storagePolicy", lambda: str(fs.getStoragePolicy(path).getName())
            ),
            erasure_coding=self._policy(server, row, "ecPolicy", lambda: _erasure_coding(fs, path)),
            replication=None if row["isdir"] else int(row["block_replication"]),
        )

    def known(self, server: str, feature: str, ask: Callable[[], Any]) -> Any:
        """Return the answer; None if the file system, or its server, does not support the call."""
        if (server, feature) in self._unsupported:
            return None
        self._calls.take(server)
        try:
            return ask()
        except Exception as error:
            if not _is_unsupported(error):
                raise
            self._unsupported.add((server, feature))
            return None

    def _policy(self, server: str, row: Mapping[str, Any], field: str, ask: Callable[[], Any]) -> Any:
        """Return the name of a policy.

        The status of a path on HDFS has the policy that is in effect there. What the NameNode calls it, is asked once
        for each policy, and not for each path.

        Args:
            field: of a status on HDFS. Other file systems have none, and are asked each time.
        """
        if field not in row:
            return self.known(server, field, ask)
        key = (server, field, json.dumps(row[field], sort_keys=True))
        if key not in self._policies:
            self._policies[key] = self.known(server, field, ask)
        return self._policies[key]

    def _acl(self, fs: Any, path: Any, status: Any) -> tuple[str, ...]:
        """Return all entries of the ACL, with those that the mode stands for; empty without an ACL."""
        entries = fs.getAclStatus(path).getEntries()
        if not entries:
            return ()
        whole = self._jvm.org.apache.hadoop.fs.permission.AclUtil.getAclFromPermAndEntries(
            status.getPermission(), entries
        )
        return tuple(str(entry.toString()) for entry in whole)

    def set_attributes(self, fs: Any, path: Any, uri: str, wanted: Attributes) -> list[LostAttribute]:
        """Set the attributes that differ. Return those that could not be set."""
        now = self.read(fs, path, uri)
        return [
            LostAttribute(kind, reason)
            for kind, act in self._steps(fs, path, uri, now, wanted)
            for reason in [self._attempt(uri, act)]
            if reason is not None
        ]

    def _steps(
        self, fs: Any, path: Any, uri: str, now: Attributes, wanted: Attributes
    ) -> Iterator[tuple[str, Callable[[], object]]]:
        """Return the calls that set each attribute, in their order.

        Policies come first, because they apply to files that are written below afterwards. The owner comes last: the
        account that has given up a directory may not be allowed to change it any more.
        """
        if wanted.erasure_coding != now.erasure_coding:
            policy = wanted.erasure_coding or _REPLICATED
            # The server refuses this for a file, which has the policy of the directory that it was written in.
            yield attributes.ERASURE, lambda: fs.setErasureCodingPolicy(path, policy)
        if wanted.storage_policy and wanted.storage_policy != now.storage_policy:
            yield attributes.STORAGE, lambda: fs.setStoragePolicy(path, wanted.storage_policy)
        if wanted.replication and now.replication and wanted.replication != now.replication:
            yield attributes.REPLICATION, lambda: fs.setReplication(path, wanted.replication)
        for name, value in wanted.xattrs.items():
            if now.xattrs.get(name) != value:
                data = bytearray(base64.b64decode(value))
                yield attributes.XATTR, partial(fs.setXAttr, path, name, data)
        # A new path inherits an ACL from its directory. Removing it changes the mode, so the mode is set after the ACL.
        if wanted.acl != now.acl:
            yield attributes.ACL, lambda: self._set_acl(fs, path, wanted.acl)
        if wanted.mode != now.mode or wanted.acl != now.acl:
            yield attributes.MODE, lambda: self._set_mode(fs, path, uri, wanted.mode)
        if wanted.group and wanted.group != now.group:
            yield attributes.GROUP, lambda: self._set_owner(fs, path, uri, None, wanted.group)
        if wanted.owner and wanted.owner != now.owner:
            yield attributes.OWNER, lambda: self._set_owner(fs, path, uri, wanted.owner, None)

    def _attempt(self, uri: str, act: Callable[[], object]) -> str | None:
        """Return why the call failed, in one line; None if it did not."""
        self._calls.take(uri)
        try:
            act()
        except Exception as error:
            kind, text = root_cause(error)
            return text or kind
        return None

    def _set_mode(self, fs: Any, path: Any, uri: str, mode: int) -> None:  # noqa: ARG002
        fs.setPermission(path, self._jvm.org.apache.hadoop.fs.permission.FsPermission(str(oct(mode)[2:])))

    def _set_owner(self, fs: Any, path: Any, uri: str, owner: str | None, group: str | None) -> None:  # noqa: ARG002
        fs.setOwner(path, owner, group)

    def _set_acl(self, fs: Any, path: Any, acl: tuple[str, ...]) -> None:
        if acl:
            parse = self._jvm.org.apache.hadoop.fs.permission.AclEntry.parseAclSpec
            fs.setAcl(path, parse(",".join(acl), True))
        else:
            fs.removeAcl(path)


def _has_no_acl(row: Mapping[str, Any]) -> bool:
    """Tell whether HDFS says with the status that there is no ACL, not even a default one: then it is not read."""
    return "fileId" in row and "HAS_ACL" not in (row.get("attr") or ())


def _xattrs(fs: Any, path: Any) -> dict[str, str]:
    attributes = fs.getXAttrs(path)
    return {
        str(name): base64.b64encode(bytes(attributes[name] or b"")).decode()
        for name in attributes
        if str(name).startswith(_USER_XATTRS)
    }


def _erasure_coding(fs: Any, path: Any) -> str | None:
    policy = fs.getErasureCodingPolicy(path)
    return str(policy.getName()) if policy is not None else None


def _is_unsupported(error: Exception) -> bool:
    """Tell whether the error says that the file system, or its server, does not have the feature at all."""
    if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
        # This file system's class has no such method. A connection to the JVM that was lost says nothing about it.
        return "does not exist" in str(error)
    kind, text = root_cause(error)
    said = _PATHS.sub("", text)
    return "UnsupportedOperation" in kind or any(word in said for word in _UNKNOWN)
