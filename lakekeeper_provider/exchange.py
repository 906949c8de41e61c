"""Where the request and the report of one submission lie, and how both sides reach them."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lakekeeper_provider.compat import ObjectStoragePath
from lakekeeper_provider.exceptions import UsageError


class Exchange:
    """
    One request and one report under names that were never used before, so that no try reads another's report.

    :param root: the folder, as the driver and this machine both name it; ``conn@`` in it names an Airflow
        connection and is for this machine only
    """

    def __init__(self, root: str) -> None:
        uri = _uri(root)
        stem = f"lakekeeper-{uuid.uuid4().hex}"
        self._folder = _storage(uri)
        self._request = self._folder / f"{stem}-request.json"
        self._report = self._folder / f"{stem}-report.json"
        self.request = f"{_for_driver(uri)}/{stem}-request.json"
        self.report = f"{_for_driver(uri)}/{stem}-report.json"
        self.report_here = f"{uri}/{stem}-report.json"

    def write_request(self, content: bytes) -> None:
        """Write the request, and the folder where it is missing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._request.write_bytes(content)

    def read_report(self) -> bytes | None:
        """Return the report, or None where the job left none."""
        return _bytes(self._report)

    def remove_request(self) -> None:
        """Remove the request; the report stays, for XCom may point to it."""
        self._request.unlink(missing_ok=True)


def read(uri: str) -> bytes:
    """Return the report that an analysis points to."""
    content = _bytes(_storage(uri))
    if content is None:
        raise UsageError(f"the report {uri} is gone: run the analysis again")
    return content


def _storage(uri: str) -> Any:
    try:
        path = ObjectStoragePath(uri)
        _ = path.fs  # Airflow 2 looks for the scheme only here
    except (ValueError, ImportError) as error:  # an unknown scheme, or one whose library is not installed
        raise UsageError(f"this worker cannot reach {uri}: {error}") from None
    return path


def _bytes(path: Any) -> bytes | None:
    try:
        content: bytes = path.read_bytes()
    except FileNotFoundError:
        return None
    return content


def _uri(root: str) -> str:
    """Return a URI with a scheme: a plain path means this disk, where Hadoop would take it for HDFS."""
    parts = urlsplit(root.strip())
    if parts.scheme and (parts.netloc or parts.path.startswith("/")):
        return root.strip().rstrip("/")
    if Path(root.strip()).is_absolute():
        return f"file://{root.strip().rstrip('/')}"
    raise UsageError(f"report_dir: expected a URI such as hdfs://nameservice/lakekeeper, got {root!r}")


def _for_driver(uri: str) -> str:
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.netloc else uri
