"""Lineage for OpenLineage: the tables of a job as inputs and outputs, with what was done to their files.

Imported only by Airflow's OpenLineage provider, through the operators: it needs that provider's packages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attr
from airflow.providers.openlineage.extractors import OperatorLineage
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
    input_statistics_input_dataset,
    output_statistics_output_dataset,
    symlinks_dataset,
)

from lakekeeper_provider.options.option import CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.report.report import Report, units_with, written

#: The outcome of units by which a verb writes a table.
_WRITTEN = {COMPACT: "compacted", ROLLBACK: "restored"}
_LOCATION = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):(//(?P<host>[^/]*))?(?P<path>/.*)")
#: The outcomes of tables that a job left alone.
_UNTOUCHED = ("refused", "busy")
#: Tables in the message about a run.
_TABLES = 1000


@attr.define
class LakekeeperRunFacet(RunFacet):
    """What a job did to its tables. Its name in a run is ``lakekeeper``.

    The keys of each table: ``table``, ``outcome``, ``runId``, ``partitions`` (those that were written),
    ``filesBefore``, ``filesAfter``, ``bytesBefore``, ``bytesAfter``, ``rows``, ``backupTable``.
    """

    verb: str
    outcome: str
    tables: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        # No schema is published for this facet: the schema that all facets share.
        return "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"


def of(report: Report, server: str) -> OperatorLineage[Any, Any]:
    """Return the lineage of a job.

    A table that was analysed is an input; one that was compacted or rolled back is an input and an output: its rows
    come from itself. A cleanup has neither: it deletes files that no table reads.

    Args:
        server: host and port of HiveServer2, as in the asset events
    """
    worked_on = [table for table in report.tables if table["outcome"] not in _UNTOUCHED]
    read = () if report.verb == CLEANUP else worked_on[:_TABLES]
    rewritten = [table for table in read if _units(report, table)]
    facet = LakekeeperRunFacet(
        verb=report.verb,
        outcome=report.outcome,
        tables=[_summary(report, table) for table in report.tables[:_TABLES]],
    )
    return OperatorLineage(
        inputs=[_input(table, server) for table in read],
        outputs=[_output(table, server) for table in rewritten],
        run_facets={"lakekeeper": facet},
    )


def _units(report: Report, table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    outcome = _WRITTEN.get(report.verb)
    return list(units_with(table, (outcome,))) if outcome else []


def _summary(report: Report, table: Mapping[str, Any]) -> dict[str, Any]:
    before, after = table.get("before") or {}, table.get("after") or {}
    return {
        "table": table["table"],
        "outcome": table["outcome"],
        "runId": table.get("run_id") or report.run_id,
        "partitions": len(_units(report, table)),
        "filesBefore": before.get("files"),
        "filesAfter": after.get("files"),
        "bytesBefore": before.get("bytes"),
        "bytesAfter": after.get("bytes"),
        "rows": table.get("rows"),
        "backupTable": table.get("backup_table"),
    }


def _input(table: Mapping[str, Any], server: str) -> InputDataset:
    before = table.get("before") or {}
    statistics = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        size=before.get("bytes"), fileCount=before.get("files")
    )
    return InputDataset(
        namespace=f"hive://{server}",
        name=table["table"],
        facets=_facets(table),
        inputFacets={"inputStatistics": statistics},
    )


def _output(table: Mapping[str, Any], server: str) -> OutputDataset:
    after = written(table)
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=table.get("rows"), size=after["bytes_after"], fileCount=after["files_after"]
    )
    return OutputDataset(
        namespace=f"hive://{server}",
        name=table["table"],
        facets=_facets(table),
        outputFacets={"outputStatistics": statistics},
    )


def _facets(table: Mapping[str, Any]) -> dict[str, DatasetFacet]:
    """Return the location as another name of the table: that by which Spark's own listener knows it."""
    # Not urlsplit: a path may have # and ? in it.
    match = _LOCATION.fullmatch(table.get("location") or "")
    if match is None:
        return {}
    scheme, host, path = match["scheme"], match["host"], match["path"]
    namespace = f"{scheme}://{host}" if host else scheme
    location = symlinks_dataset.Identifier(namespace=namespace, name=path, type="LOCATION")
    return {"symlinks": symlinks_dataset.SymlinksDatasetFacet(identifiers=[location])}
