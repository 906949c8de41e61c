"""Compact tables: our job, Lakekeeper, and the plain Spark rewrite, on the local disk and on HDFS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import reports
from benchmarks.cases.case import ANALYSED, ARROW, ARROW_ANALYSED, BARE, LAKEKEEPER, OURS, Bench, Case, Opener
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured, RunFailed
from benchmarks.places import contenders
from benchmarks.places.tables import Tables, facts, require_compacted
from benchmarks.workspace import Submitter
from spark_jobs.protocol.planning.footer_inspection import AS_ANALYSED

#: The steps for a table of many files, whose footers an analysis keeps.
MANY = (OURS, ANALYSED, LAKEKEEPER, BARE)
#: The option of the steps of Arrow.
_BY_ARROW = ("--engine", "arrow")
#: Their rounds, so that all cases take no longer than 90 minutes.
OF_MANY = {LAKEKEEPER: 1, ANALYSED: 3, ARROW_ANALYSED: 3}

#: Returns spark-submit, and the tables.
Prepare = Callable[[Bench], tuple[Submitter, Tables]]


@dataclass(frozen=True)
class OfTables:
    """The tables of one case, and spark-submit."""

    name: str
    submit: Submitter
    tables: Tables

    @property
    def facts(self) -> dict[str, Any]:
        return facts(self.tables)


class Compaction(OfTables):
    """Tables that each step compacts in its own way."""

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        label = f"{self.name}-{step}-{number}"
        self.tables.reset()
        if step == OURS:
            return compact(self.submit, label, self.tables)
        if step == ARROW:
            return compact(self.submit, label, self.tables, *_BY_ARROW)
        if step in (ANALYSED, ARROW_ANALYSED):
            options = _BY_ARROW if step == ARROW_ANALYSED else ()
            return analyse_and_compact(self.submit, label, self.tables, *options)
        act = contenders.lakekeeper if step == LAKEKEEPER else contenders.bare
        measured = act(self.submit, label, self.tables)
        return measured, {"files_after": require_compacted(self.tables, label, bare=step == BARE)}


def compact(submit: Submitter, label: str, tables: Tables, *options: str) -> tuple[Measured, dict[str, Any]]:
    """Run our job, and check its effect.

    Raises:
        RunFailed: Arrow was to write the files, and Spark has.
    """
    measured, report = contenders.ours(submit, label, "compact", tables, *options)
    reports.require(report, label, "done")
    if options == _BY_ARROW:
        reports.require_engine(report, label, "arrow")
    files = require_compacted(tables, label)
    return measured, {"files_after": files, "phases": reports.phases(report)}


def analyse_and_compact(
    submit: Submitter, label: str, tables: Tables, *options: str
) -> tuple[Measured, dict[str, Any]]:
    """Run our analysis, then our compaction, as a DAG does. What is measured is the compaction.

    Raises:
        RunFailed: the analysis has kept no footers for the compaction.
    """
    analysis, report = contenders.ours(submit, f"{label}-analysis", "analyze", tables)
    reports.require(report, label, "done")
    measured, figures = compact(submit, label, tables, *options)
    if AS_ANALYSED not in (submit.logs / f"{label}.log").read_text():
        raise RunFailed(f"{label}: the compaction has read the footers of all files")
    return measured, {**figures, "seconds_of_the_analysis": analysis.wall}


def _opener(name: str, prepare: Prepare) -> Opener:
    @contextmanager
    def opened(bench: Bench) -> Iterator[Compaction]:
        yield Compaction(name, *prepare(bench))

    return opened


def _local(dataset: str) -> Prepare:
    return lambda bench: (bench.local.submit, bench.local.prepare(DATASETS[dataset]))


def _demo(bench: Bench) -> tuple[Submitter, Tables]:
    return bench.local.submit, bench.local.prepare_demo()


def _hdfs(dataset: str) -> Prepare:
    return lambda bench: (bench.hdfs.submit, bench.hdfs.prepare(DATASETS[dataset]))


def _case(
    name: str,
    title: str,
    about: str,
    prepare: Prepare,
    steps: tuple[str, ...] = (OURS, LAKEKEEPER, BARE),
    **more: Any,
) -> Case:
    return Case(name, title, about, steps, _opener(name, prepare), rounds=5, **more)


CASES = (
    _case(
        "files-65000",
        "65,000 files, local disk",
        "One table without partitions.",
        _local("files-65000"),
        (*MANY[:2], ARROW_ANALYSED, *MANY[2:]),
        limits=OF_MANY,
        disk_gb=14,
    ),
    _case(
        "partitions-200",
        "200 partitions of 20 files, local disk",
        "One table; each partition becomes one file. The plain rewrite has 8 threads.",
        _local("partitions-200"),
        (OURS, ARROW, LAKEKEEPER, BARE),
    ),
    _case(
        "demo",
        "The demo's tables, local disk",
        "Three tables in 13 directories, in one process. The plain rewrite has 8 threads.",
        _demo,
    ),
    _case(
        "hdfs-650",
        "650 files, HDFS",
        "One table without partitions.",
        _hdfs("files-650"),
        MANY,
        limits=OF_MANY,
        line="hdfs",
    ),
    _case(
        "hdfs-6500",
        "6,500 files, HDFS",
        "One table without partitions, ten times as large.",
        _hdfs("files-6500"),
        MANY,
        limits=OF_MANY,
        line="hdfs",
    ),
)
