"""From options to command lines. Pure: nothing here runs anything or looks at the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.config import SparkSubmit
from lakekeeper_provider.options import OPTIONS
from lakekeeper_provider.selection import Selection

BOOLEAN_FLAGS = {
    "analyze_after_compaction": {True: "--analyze-stats", False: "--no-analyze-stats"},
    "dry_run": {True: "--dry-run"},
    "skip_trash": {True: "--skip-trash"},
    "full_scan": {True: "--full-scan"},
}


def selection_flags(selection: Selection) -> list[str]:
    """Return the flags that say what to work on."""
    if selection.database:
        return ["--database", selection.database]
    if len(selection.tables) == 1:
        return ["--table", selection.tables[0]]
    return ["--tables", ",".join(selection.tables)]


def option_flags(options: Mapping[str, Any]) -> list[str]:
    """Return the flags of typed options, in the order of the wire."""
    flags: list[str] = []
    for key, option in OPTIONS.items():
        if option.flag and key in options:
            flags += _flag(key, option.flag, options[key])
    return flags


def _flag(key: str, flag: str, value: Any) -> list[str]:
    if key in BOOLEAN_FLAGS:
        switch = BOOLEAN_FLAGS[key].get(value)
        return [switch] if switch else []
    if key == "partitions":
        return [flag, json.dumps(value, separators=(",", ":"), ensure_ascii=False)]
    if isinstance(value, list):
        return [flag, ",".join(value)]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]


def job_arguments(
    selection: Selection, *, request: str, report: str, options: Mapping[str, Any], run_id: str | None = None
) -> list[str]:
    """Return the arguments of a job that an operator starts: all but ``options`` travels in the request."""
    named = ["--run-id", run_id] if run_id else []
    return [
        *selection_flags(selection),
        *option_flags(options),
        "--request",
        request,
        "--report",
        report,
        *named,
    ]


def spark_conf(spark: SparkSubmit, given: Mapping[str, Any] | None, *, client: bool) -> dict[str, str]:
    """
    Return the Spark properties of an operator's job: the operator's own win over the file's.

    A second application attempt of YARN would work on the tables while the first may still be alive, and
    Airflow retries anyway. A ``python_env`` inside an archive exists on the cluster only: in client mode
    the driver runs here, and Spark would look for it here as well.
    """
    conf = {"spark.yarn.maxAppAttempts": "1"}
    if spark.python_env:
        conf["spark.pyspark.python"] = spark.python_env
        if client:
            conf["spark.pyspark.driver.python"] = "python3"
    return {**conf, **spark.extra_conf, **{key: str(value) for key, value in (given or {}).items()}}


def spark_submit_command(
    spark: SparkSubmit, script: str, arguments: Sequence[str], py_files: Sequence[str] = ()
) -> list[str]:
    """Return the command of a shell; its order is the one that Lakekeeper documents."""
    command = [spark.submit_command or "spark-submit", "--master", master(spark)]
    command += ["--deploy-mode", spark.deploy_mode or "client"]
    ticket = spark.use_krb5ccache and "spark.kerberos.renewal.credentials=ccache"
    for flag, value in (
        # spark-submit takes a principal only together with its keytab; a ticket says whose it is.
        ("--principal", spark.principal if spark.keytab or not ticket else None),
        ("--keytab", spark.keytab),
        ("--conf", ticket),
        ("--proxy-user", spark.proxy_user),
        ("--conf", spark.queue and f"spark.yarn.queue={spark.queue}"),
        ("--archives", spark.archives),
        ("--conf", spark.python_env and f"spark.pyspark.python={spark.python_env}"),
        ("--executor-memory", spark.executor_memory),
        ("--num-executors", spark.num_executors),
        ("--executor-cores", spark.executor_cores),
        ("--driver-memory", spark.driver_memory),
        *(("--conf", f"{key}={value}") for key, value in spark.extra_conf.items()),
        ("--files", ",".join(spark.extra_files)),
        ("--py-files", ",".join([*py_files, *spark.py_files])),
    ):
        command += [flag, str(value)] if value else []
    return [*command, script, *arguments]


def master(spark: SparkSubmit) -> str:
    """Return the master of a shell's command; without ``enabled`` the job runs on this machine."""
    return (spark.master or "yarn") if spark.enabled else "local[*]"
