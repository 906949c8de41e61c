"""Reads entries of directories from Hadoop's client, thousands of them by a few calls."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from spark_jobs.adapters.hadoop.field_mapper import fields_mapper
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.protocol.file_system import Status

#: The entries of one answer. A directory of a million files is read in several answers, so that no text fills the
#: memory of the driver.
_PAGE = 20_000
#: The actions of Hadoop's FsAction, in the order of their permission bits.
_ACTIONS = ("NONE", "EXECUTE", "WRITE", "WRITE_EXECUTE", "READ", "READ_EXECUTE", "READ_WRITE", "ALL")
_STICKY = 0o1000


class StatusReader:
    """Converts a `FileStatus[]` into JSON and this into statuses: one call to the JVM instead of five for each file."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self._mapper = fields_mapper(gateway.jvm, {})
        self._texts: dict[tuple[Any, ...], str] = {}

    def listed(self, statuses: Any) -> list[Status]:
        """Return the entries of a Java array of statuses, in its order."""
        return list(self.each(statuses))

    def each(self, statuses: Any) -> Iterator[Status]:
        """Yield the entries of a Java array of statuses, in its order."""
        return (self._status(row) for row in self._rows(statuses))

    def named(self, statuses: Any, directory: str) -> Iterator[Status]:
        """Yield the entries of a page of HDFS. They have names, and no paths; the entry of a file has no name."""
        for row in java_json(self._mapper, statuses):
            name = b64decode(row["uPath"] or "").decode()
            yield self._status({**row, "path": f"{directory.rstrip('/')}/{name}" if name else directory})

    def row(self, status: Any) -> dict[str, Any]:
        """Return the fields of one Java status."""
        fields: dict[str, Any] = java_json(self._mapper, status)
        return fields

    def one(self, status: Any) -> Status:
        return self._status(self.row(status))

    def _rows(self, statuses: Any) -> Iterator[dict[str, Any]]:
        total = len(statuses)
        if total <= _PAGE:
            yield from java_json(self._mapper, statuses)
            return
        for start in range(0, total, _PAGE):
            page = java_slice(self._gateway, statuses, start, min(start + _PAGE, total))
            yield from java_json(self._mapper, page)

    def _status(self, row: Mapping[str, Any]) -> Status:
        owner = row.get("owner") or ""
        return Status(
            row["path"],
            row["isdir"],
            row["length"],
            row["modification_time"],
            row.get("fileId"),
            self._access(row),
            owner,
            # A listing of a local disk has no owner, and a default for the permissions: they are ignored.
            _shared(row.get("permission") or {}) if owner else "",
            row.get("block_replication", row.get("replication")),
        )

    def _access(self, row: Mapping[str, Any]) -> str:
        """Return a text of owner, group, mode, replication and whether there is an ACL.

        Thousands of files have the same one, so that each different text is created once.
        """
        permission, attr = row.get("permission") or {}, row.get("attr") or ()
        key = (
            row.get("owner"),
            row.get("group"),
            tuple(permission.values()),
            row.get("block_replication"),
            row.get("replication"),
            tuple(attr),
        )
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = json.dumps(key)
        return text


def java_slice(gateway: Any, array: Any, start: int, stop: int) -> Any:
    """Return a part of a Java array as an `Object[]`: py4j cannot pass other arrays to generic methods."""
    part = gateway.new_array(gateway.jvm.java.lang.Object, stop - start)
    gateway.jvm.java.lang.System.arraycopy(array, start, part, 0, stop - start)
    return part


def mode_of(row: Mapping[str, Any]) -> int:
    """Return the permission bits of a status, with the sticky bit, as `FsPermission.toShort` does."""
    permission = row["permission"]
    bits = 0
    for who in ("useraction", "groupaction", "otheraction"):
        bits = bits << 3 | _ACTIONS.index(permission[who])
    return bits | (_STICKY if permission.get("stickyBit") else 0)


def _shared(permission: Mapping[str, Any]) -> str:
    """Return which other accounts may write, by the names of Hadoop's FsAction.

    If there is an ACL, HDFS shows its mask as the permissions of the group.
    """
    for name, key in (("others", "otheraction"), ("group", "groupaction")):
        action = str(permission.get(key))
        if "WRITE" in action or action == "ALL":
            return name
    return ""
