"""Extra links of the tasks: the application on YARN, and the report of the job."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lakekeeper_provider.compat import BaseOperatorLink, Context, XCom

log = logging.getLogger(__name__)

#: What YARN's client prints in cluster mode, and the driver in client mode: a line of its own, and not what a text of a
#: table says in the middle of another one.
_TRACKING = re.compile(r"\s*tracking URL: (https?://[^\s\"'<>\\^`{|}]+)\s*")
_APPLICATION = re.compile(r"\bapplication_\d+_\d+\b")
#: WebHDFS is HTTP, and opens in a browser.
_WEBHDFS = {"webhdfs": "http", "swebhdfs": "https"}


class _StoredLink(BaseOperatorLink):  # type: ignore[misc]
    """A link that the task stores in an XCom as soon as it is known, so that it is there while the task runs.

    Airflow 3 shows that XCom, and asks for the link once more at the end; Airflow 2 asks each time.
    """

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ARG002 - named by Airflow
        """Return the link that the task has stored; empty if it has none."""
        return XCom.get_value(ti_key=ti_key, key=self.key()) or ""

    @classmethod
    def key(cls) -> str:
        """Return the key of the XCom. Airflow 3 derives the same one from the name of the class."""
        return f"_link_{cls.__name__}"

    @classmethod
    def store(cls, context: Context, url: str) -> None:
        """Store the link of the task that runs. An error must not end the job, which does not need it."""
        try:
            context["ti"].xcom_push(key=cls.key(), value=url)
        except Exception as error:
            log.warning("the link %s could not be stored: %s", url, error)


class YarnApplicationLink(_StoredLink):
    """The page of the application in YARN's ResourceManager."""

    name = "YARN application"


class ReportLink(_StoredLink):
    """The report of the job, if ``report_dir`` has an address that a browser can open."""

    name = "Report"


def watch_application(
    lines: Iterable[str], resource_manager: str | None, callback: Callable[[str], object]
) -> Iterator[str]:
    """Return the lines of spark-submit, and report the address of the application, once it appears in them.

    Args:
        resource_manager: address of the ResourceManager's pages, from the connection; without it, the tracking URL
            that spark-submit prints is used
        callback: is called once, with the address
    """
    known = False
    for line in lines:
        url = None if known else _application_url(line, resource_manager)
        if url:
            known = True
            callback(url)
        yield line


def _application_url(line: str, resource_manager: str | None) -> str | None:
    if resource_manager:
        application = _APPLICATION.search(line)
        return f"{resource_manager}/cluster/app/{application[0]}" if application else None
    tracking = _TRACKING.fullmatch(line)  # guard: links_are_whole_lines
    return tracking[1] if tracking else None


def resource_manager_of(extra: Any) -> str | None:
    """Return the address of the ResourceManager's pages that a Spark connection names, without a slash at the end."""
    address = str(extra.get("yarn_resourcemanager_webapp_address") or "").strip().rstrip("/")
    return f"http://{address}" if address and "://" not in address else address or None


def browser_address(report: str | None) -> str | None:
    """Return where a browser can open a report; None if it cannot."""
    parts = urlsplit(report or "")
    host = parts.netloc.rpartition("@")[2]  # The name of an Airflow connection may stand before the host.
    if parts.scheme in _WEBHDFS:
        return urlunsplit((_WEBHDFS[parts.scheme], host, f"/webhdfs/v1{parts.path}", "op=OPEN", ""))
    return report if parts.scheme in ("http", "https") else None
