"""HDFS by its own REST interface: the NameNode's answers, by nobody's client."""

from __future__ import annotations

import base64
import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WebHdfs:
    """`who` is the part of each request that says who asks: a name, or a delegation token."""

    address: str
    who: Mapping[str, str]

    def make(self, folder: str, mode: str) -> None:
        """With all above it that is missing. The mode is set apart: that of MKDIRS is cut by the umask."""
        self._ask("PUT", folder, op="MKDIRS")
        self._ask("PUT", folder, op="SETPERMISSION", permission=mode)

    def give(self, path: str, owner: str) -> None:
        self._ask("PUT", path, op="SETOWNER", owner=owner)

    def list(self, folder: str) -> list[dict[str, Any]]:
        """All in a directory, the hidden ones as well: pathSuffix, owner, length, modificationTime and more."""
        return list(self._ask("GET", folder, op="LISTSTATUS")["FileStatuses"]["FileStatus"])

    def read(self, path: str) -> bytes:
        """The NameNode sends the client to a DataNode, with a token in the address."""
        return self._answer("GET", path, op="OPEN")

    def rename(self, source: str, target: str) -> None:
        """Raises OSError where the NameNode does not."""
        if not self._ask("PUT", source, op="RENAME", destination=target)["boolean"]:
            raise OSError(f"{source} could not be renamed to {target}")

    def delete(self, path: str) -> None:
        """With all below it, and not into the trash."""
        self._ask("DELETE", path, op="DELETE", recursive="true")

    def _ask(self, method: str, path: str, **query: str) -> Any:
        content = self._answer(method, path, **query)
        return json.loads(content) if content else None

    def _answer(self, method: str, path: str, **query: str) -> bytes:
        text = urllib.parse.urlencode({**query, **self.who})
        url = f"http://{self.address}/webhdfs/v1{urllib.parse.quote(path)}?{text}"
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60) as answer:
            return bytes(answer.read())


def token_in(credentials: bytes) -> str:
    """The only token of a file that `hdfs fetchdt` has written, as it stands in an address."""
    magic_and_version, tokens, secrets = b"HDTS\x00", b"\x01", b"\x00"
    head = magic_and_version + tokens
    if not (credentials.startswith(head) and credentials.endswith(secrets)):
        raise ValueError("these are no credentials with one token")
    length, begin = _vint(credentials, len(head))  # of the token's alias
    token = credentials[begin + length : -len(secrets)]
    return base64.urlsafe_b64encode(token).decode().rstrip("=")


def _vint(data: bytes, at: int) -> tuple[int, int]:
    """A number as Hadoop's WritableUtils writes it, and where it ends."""
    first = int.from_bytes(data[at : at + 1], "big", signed=True)
    if first >= -112:
        return first, at + 1
    end = at + 1 - 112 - first
    return int.from_bytes(data[at + 1 : end], "big"), end
