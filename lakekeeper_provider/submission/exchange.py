"""Where the request and the report of one submission lie, and how both sides reach them."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import tenacity

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.parsers import shown
from lakekeeper_provider.submission.storage import open_storage

#: A report is asked for six times, for about a minute, while its storage does not answer.
_RETRIES = tenacity.Retrying(
    stop=tenacity.stop_after_attempt(6), wait=tenacity.wait_exponential(max=30), reraise=True
)


#: How the address of a report ends.
_REPORT = re.compile(r".*/lakekeeper-[0-9a-f]{32}-report\.json", re.DOTALL)


class Exchange:
    """One request and one report under names that were never used before, so that no try reads another's report.

    Args:
        root: the directory, as the driver and this machine both name it; ``conn@`` in it names an Airflow
            connection and is for this machine only
        lasting: whether the directory outlives the submission; ``lasting_report`` says where the report is then
    """

    def __init__(self, root: str, *, lasting: bool = True) -> None:
        uri = _uri(root)
        stem = f"lakekeeper-{uuid.uuid4().hex}"
        self._fs, directory = open_storage(uri)
        self._directory = directory
        self._request = f"{directory}/{stem}-request.json"
        self._report = f"{directory}/{stem}-report.json"
        self.request = f"{_for_driver(uri)}/{stem}-request.json"
        self.report = f"{_for_driver(uri)}/{stem}-report.json"
        self.lasting_report = f"{uri}/{stem}-report.json" if lasting else None

    def write_request(self, content: bytes) -> None:
        """Write the request, and the directory where it is missing."""
        self._fs.makedirs(self._directory, exist_ok=True)
        self._fs.pipe_file(self._request, content)

    def probe(self) -> None:
        """Write a file where the request will be, read it, and remove it. Raise what prevents that."""
        content = b"{}"
        self.write_request(content)
        try:
            read = _bytes(self._fs, self._request)
        finally:
            self.remove_request()
        if read != content:
            raise UsageError(f"what was written to {self.request} cannot be read back")

    def read_report(self) -> bytes | None:
        """Return the report, or None where the job left none.

        A storage that does not answer is asked again: the job has ended, and its result must not be lost to that.
        """
        content: bytes | None = _RETRIES(lambda: _bytes(self._fs, self._report))
        return content

    def remove_request(self) -> None:
        """Remove the request; the report stays, for XCom may point to it."""
        with suppress(FileNotFoundError):
            self._fs.rm_file(self._request)


def read(uri: str) -> bytes:
    """Return the report that an analysis points to. Its address may be what a person has given to a DAG run."""
    if not _REPORT.fullmatch(str(uri)):
        raise UsageError(
            f"analysis: {shown(uri)} is not the address of a report: take the output of an AnalyzeOperator"
        )
    content = _bytes(*open_storage(uri))
    if content is None:
        raise UsageError(f"the report {uri} does not exist any more: run the analysis again")
    return content


def add_warnings(uri: str, warnings: Mapping[str, Sequence[str]]) -> None:
    """Replace the warnings of the tables in a report that is kept."""
    data = json.loads(read(uri))
    for table in data["tables"]:
        table["warnings"] = list(warnings[table["table"]])
    fs, path = open_storage(uri)
    fs.pipe_file(path, json.dumps(data, indent=1).encode())


def _bytes(fs: Any, path: str) -> bytes | None:
    try:
        content: bytes = fs.cat_file(path)
    except FileNotFoundError:
        return None
    return content


def _uri(root: str) -> str:
    """Return a URI with a scheme: a plain path means this disk, where Hadoop would take it for HDFS."""
    parts = urlsplit(root.strip())
    if parts.password is not None:  # guard: no_password_in_uris
        raise UsageError(
            "report_dir: a password in a URI would be shown by logs and XComs: create a connection in Airflow, and name"
            " it before the host, as in webhdfs://CONNECTION@namenode:9870/lakekeeper"
        )
    if parts.scheme and (parts.netloc or parts.path.startswith("/")):
        return root.strip().rstrip("/")
    if Path(root.strip()).is_absolute():
        return f"file://{root.strip().rstrip('/')}"
    raise UsageError(f"report_dir: expected a URI such as webhdfs://namenode:9870/lakekeeper, got {root!r}")


def _for_driver(uri: str) -> str:
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.netloc else uri
