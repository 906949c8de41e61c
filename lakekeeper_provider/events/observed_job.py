"""What a job tells those who watch its tables: metrics, asset events and lineage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from lakekeeper_provider.compat import Context, Stats, utcnow
from lakekeeper_provider.events import asset_events, health, metrics
from lakekeeper_provider.report.report import Report


class ObservedJob:
    """The part of an operator that tells the result of its job to Airflow's metrics, assets and OpenLineage."""

    verb: ClassVar[str]
    _reported: Report | None = None
    _server = ""

    @classmethod
    def partial(cls, **kwargs: Any) -> Any:
        """Return what Airflow makes for mapped tasks, with the outlets in the DAG and not only in its tasks.

        Airflow creates assets and aliases that a DAG names when it reads the DAG. What only a task names is created
        at its end: of two tasks that create the same at once, Airflow fails one after its job is done.
        """
        mapped = super().partial(**kwargs)  # type: ignore[misc]
        if outlets := cls.with_own_outlets(mapped.kwargs.get("outlets") or ()):
            mapped.kwargs["outlets"] = outlets
        return mapped

    @classmethod
    def with_own_outlets(cls, outlets: Any) -> list[Any]:
        """Return outlets, one or several, and once those of the events of this operator."""
        given = outlets if isinstance(outlets, Iterable) else [outlets]
        own = [*asset_events.outlets_of(cls.verb), *health.outlets_of(cls.verb)]
        return [*(each for each in given if each not in own), *own]

    def tell(
        self, report: Report, uri: str | None, server: str, told: dict[str, Any], context: Context
    ) -> None:
        """Send metrics and asset events, and keep the report for OpenLineage, which asks at the end of the task.

        Args:
            uri: where the report is kept
            server: host and port of HiveServer2, for the names of the tables
            told: what the events of the tables' health say of the job (``health.extras``)
        """
        metrics.send(report, Stats, utcnow(), whole=self.has_all_rows())
        asset_events.emit(context, report, uri, server)
        health.emit(context, report, told, server)
        self._reported, self._server = report, server

    def has_all_rows(self) -> bool:
        """Tell whether a history has all its rows."""
        return True

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """Return the lineage of the job for Airflow's OpenLineage provider; None if there is no report."""
        if self._reported is None:
            return None
        from lakekeeper_provider.events import lineage  # the provider is there, or nobody would ask

        return lineage.of(self._reported, self._server)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> Any:
        """Return the lineage of a job that has failed, perhaps after it has compacted some tables."""
        return self.get_openlineage_facets_on_complete(task_instance)
