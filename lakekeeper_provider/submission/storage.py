"""The file systems that a worker and a Spark driver both reach, by fsspec."""

from __future__ import annotations

import getpass
import os
from typing import Any
from urllib.parse import SplitResult, urlsplit

import fsspec
from airflow.configuration import conf

from lakekeeper_provider.compat import BaseHook, ObjectStoragePath
from lakekeeper_provider.exceptions import UsageError

#: HDFS over HTTP, which Airflow does not know of.
_WEBHDFS = {"webhdfs": False, "swebhdfs": True}
_HTTP_PORTS = {"webhdfs": 9870, "swebhdfs": 9871}


def open_storage(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI, and the path in it.

    ``conn@`` names an Airflow connection. For HDFS its login is the user, and its extra goes to fsspec's
    ``WebHDFS`` as it is (``kerberos``, ``session_verify``, ``data_proxy``, ``kerb_kwargs``).

    Raises:
        UsageError: for an unknown scheme, or one whose library is not installed
    """
    parts = urlsplit(uri)
    try:
        if parts.scheme in _WEBHDFS:
            return _webhdfs(parts), parts.path
        path = ObjectStoragePath(uri)
        return path.fs, path.path
    except (ValueError, ImportError) as error:  # Airflow 2 looks for the scheme only at .fs
        raise UsageError(f"this worker cannot reach {uri}: {error}") from None


def _webhdfs(parts: SplitResult) -> Any:
    options: dict[str, Any] = {
        "host": parts.hostname,
        "port": parts.port or _HTTP_PORTS[parts.scheme],
        "use_https": _WEBHDFS[parts.scheme],
        **_login(parts.username, parts.hostname),
    }
    try:
        return fsspec.filesystem("webhdfs", **options)
    except ImportError as error:
        raise ImportError(f"{error}; pip install 'airflow-provider-lakekeeper[kerberos]'") from None


def _login(conn_id: str | None, host: str | None) -> dict[str, Any]:
    """Return who asks: the connection's login, Airflow's Kerberos ticket, or whom Hadoop's client would take."""
    options = _connection(conn_id, host) if conn_id else {}
    options.setdefault("kerberos", conf.get("core", "security", fallback="") == "kerberos")
    if not options["kerberos"] and "token" not in options:
        options.setdefault("user", os.environ.get("HADOOP_USER_NAME") or getpass.getuser())
    return options


def _connection(conn_id: str, host: str | None) -> dict[str, Any]:
    """Return the options of a connection, whose credentials go to no other host than its own, if it names one."""
    connection = BaseHook.get_connection(conn_id)
    if connection.host and connection.host.lower() != (host or "").lower():
        raise UsageError(
            f"the connection {conn_id!r} is for {connection.host}, and not for {host}: correct one of them"
        )
    own = {"user": connection.login, "password": connection.password}
    return {**{key: value for key, value in own.items() if value}, **connection.extra_dejson}
