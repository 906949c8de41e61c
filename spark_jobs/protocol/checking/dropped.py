"""The dropped tables of a location, as far as their journals can be read: a check says what cannot."""

from __future__ import annotations

from spark_jobs.core.options.layers import Layers
from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.checking.journals import ReadableRuns
from spark_jobs.protocol.planning.dropped_table import DroppedTable, named, placeholder
from spark_jobs.protocol.services import Services


def readable_tables(services: Services, layers: Layers, location: str) -> list[DroppedTable]:
    """Return the dropped tables whose root was at a location: at most one with partitions, and one without."""
    findings = []
    for keys in (("partition",), ()):
        if services.fs.status(Home.of_table(location, bool(keys)).path) is None:
            continue
        table = placeholder(services, layers, location, keys)
        findings.append(named(table, ReadableRuns(table).all()))
    return findings
