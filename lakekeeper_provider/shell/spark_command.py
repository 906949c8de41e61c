"""The command line of spark-submit for what a person has typed, and the request that goes with it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import bundle, commands, request
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import OPTIONS, parse_options
from lakekeeper_provider.options.option import CLEANUP, DOCTOR
from lakekeeper_provider.options.retention import FLAGS, check_retention
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.spark_submit import SparkSubmit

#: The arguments of single verbs that the jobs take too, and are no options.
_OWN, _OWN_SWITCHES = ("run_id", "writers", "limit"), ("yes", "read_data", "units", "snapshots")
#: What counts of a section `spark_submit` that is not enabled.
_OF_SHELL = (
    *("submit_command", "principal", "keytab", "use_krb5ccache"),
    *("driver_memory", "extra_conf", "extra_files", "py_files"),
)


def build_command(arguments: argparse.Namespace, settings: Config, directory: Path) -> list[str]:
    """Return the command; ``directory`` takes the bundle and the request."""
    spark = spark_of_shell(settings.spark_submit)
    flags = job_flags(arguments, settings)
    if getattr(arguments, "plan", None):
        spark, where = _place_plan(spark, Path(arguments.plan))
        flags = ["--plan", where, *flags]
    remaining = request_of(settings)
    report = json_report(arguments, directory)
    if report is not None:
        if spark.deploy_mode == "cluster":
            raise UsageError(
                "--json needs client mode: in cluster mode the report is written where the driver runs"
            )
        flags += ["--report", str(report)]
    if remaining:
        spark, where = _place_request(spark, request.dump(remaining), directory)
        flags += ["--request", where]
    if spark.script_path:
        return commands.spark_submit_command(spark, spark.script_path, [arguments.command, *flags])
    jobs = [str(bundle.build_bundle(directory))]
    return commands.spark_submit_command(spark, str(bundle.job_script(arguments.command)), flags, jobs)


def json_report(arguments: argparse.Namespace, directory: Path) -> Path | None:
    """Return the file for the report, if it is to be printed as JSON."""
    return directory / "report.json" if getattr(arguments, "json", False) else None


def job_flags(arguments: argparse.Namespace, settings: Config) -> list[str]:
    """Return the flags that were given; a file's options travel in the request, below table properties."""
    given = parse_options({key: getattr(arguments, key, None) for key in OPTIONS})
    flags = [*_selected(arguments, given, settings), *commands.option_flags(given)]
    own = {name: getattr(arguments, name, None) for name in _OWN}
    flags += [word for name, value in own.items() if value for word in (_flag(name), str(value))]
    return flags + [_flag(name) for name in _OWN_SWITCHES if getattr(arguments, name, False)]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _selected(arguments: argparse.Namespace, given: Mapping[str, Any], settings: Config) -> list[str]:
    if getattr(arguments, "plan", None):
        return []
    location = getattr(arguments, "location", None)
    if location:
        return ["--location", location]
    named = (arguments.table, arguments.tables, arguments.database)
    by_person = any(name is not None for name in named)
    selection = Selection.of(*named) if by_person else settings.selection
    if selection is None and arguments.command == DOCTOR:
        return []
    if selection is None:
        raise UsageError(
            "nothing is named to work on: give --table, --tables or --database, or one of these keys in the"
            " configuration file"
        )
    # Of tables that a person names, all originals may be meant; of a whole database nobody has looked at each.
    watched = by_person and not selection.database
    if arguments.command == CLEANUP and not watched and not _has_retention(given):
        check_retention(given, settings, selection, FLAGS)
    return commands.selection_flags(selection)


def _has_retention(given: Mapping[str, Any]) -> bool:
    return "older_than" in given or bool(given.get("keep_last"))


def request_of(settings: Config) -> dict[str, Any] | None:
    """Return the request for what the file says beyond the defaults, or None."""
    changed = {key: value for key, value in settings.settings.items() if value != OPTIONS[key].default}
    built = request.build_request(replace(settings, settings=changed), {})
    return built if len(built) > 1 else None


def _place_request(spark: SparkSubmit, content: bytes, directory: Path) -> tuple[SparkSubmit, str]:
    path = directory / "lakekeeper-request.json"
    path.write_bytes(content)
    return _place(spark, path)


def _place_plan(spark: SparkSubmit, path: Path) -> tuple[SparkSubmit, str]:
    if not path.is_file():
        raise UsageError(f"--plan: there is no file {path}; `lakekeeper plan --json` prints a plan")
    return _place(spark, path.resolve())


def _place(spark: SparkSubmit, path: Path) -> tuple[SparkSubmit, str]:
    """Return where the driver finds a file of this machine."""
    if spark.deploy_mode != "cluster":
        return spark, f"file://{path}"
    # The driver runs elsewhere: --files puts the file into its working directory.
    return replace(spark, extra_files=(*spark.extra_files, str(path))), path.name


def spark_of_shell(spark: SparkSubmit) -> SparkSubmit:
    """Return what counts from a shell of the section ``spark_submit``."""
    if not spark.enabled:
        return SparkSubmit(**{name: getattr(spark, name) for name in _OF_SHELL})
    if spark.deploy_mode == "cluster":
        # A second attempt by YARN would start while the first may still be at work.
        conf = {"spark.yarn.maxAppAttempts": "1", **spark.extra_conf}
        return replace(spark, extra_conf=conf)
    return spark
