"""The plugin that adds the pages to Airflow's UI. It is silent where Airflow has no such interface."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

PREFIX = "/lakekeeper"
_ROUTE = "lakekeeper"


def _has_pages() -> bool:
    """Tell whether this Airflow shows views of plugins to those who have logged in, which 3.1.0 did not."""
    from airflow import __version__
    from packaging.version import Version

    return Version(__version__) >= Version("3.1.1")


class _AppOnDemand:
    """The app, which is imported when the first request comes: each worker and scheduler loads the plugin, too."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Not by the event loop: other requests would wait for the import.
        app = await asyncio.to_thread(_app)
        await app(scope, receive, send)


def _app() -> Any:
    from lakekeeper_provider.page.app import app

    return app


def base() -> str:
    """Return the path below which Airflow's own pages are; empty if it is the root."""
    return urlsplit(conf.get("api", "base_url", fallback="") or "").path.rstrip("/")


def _views() -> list[dict[str, Any]]:
    root = f"{base()}{PREFIX}"
    icons = {"icon": f"{root}/static/icon.svg", "icon_dark_mode": f"{root}/static/icon-dark.svg"}
    task = "dag_id={DAG_ID}&run_id={RUN_ID}&task_id={TASK_ID}&map_index={MAP_INDEX}"
    return [
        {"name": "Lakekeeper", "href": f"{root}/", "destination": "nav", "url_route": _ROUTE, **icons},
        {
            "name": "Lakekeeper report",
            "href": f"{root}/task?{task}",
            "destination": "task_instance",
            "url_route": f"{_ROUTE}-report",
            **icons,
        },
        {
            "name": "Lakekeeper",
            "href": f"{root}/run?dag_id={{DAG_ID}}&run_id={{RUN_ID}}",
            "destination": "dag_run",
            "url_route": f"{_ROUTE}-run",
            **icons,
        },
    ]


class LakekeeperPlugin(AirflowPlugin):
    """The list of tables in the navigation, and a tab of DAG runs and of task instances."""

    name = "lakekeeper"
    if _has_pages():
        fastapi_apps = [{"app": _AppOnDemand(), "url_prefix": PREFIX, "name": "Lakekeeper"}]
        external_views = _views()
