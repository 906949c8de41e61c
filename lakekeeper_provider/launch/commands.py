"""Build command lines and arguments of spark-submit from options; nothing here has effects."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lakekeeper_provider.options.definitions import OPTIONS
from lakekeeper_provider.options.option import Flag
from lakekeeper_provider.options.parsers import boolean
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.options.spark_submit import SparkSubmit

#: Arguments of SparkSubmitOperator -> keys of the ``spark_submit`` section that have another name.
_SPARK_SUBMIT_KEYS = {"yarn_queue": "queue", "spark_binary": "submit_command"}
#: The variables by which Spark finds the Python of a driver, in its order.
_DRIVER_PYTHON = ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")


def selection_flags(selection: Selection) -> list[str]:
    """Return the flags that select tables; none for a selection of none, which ``doctor`` may have."""
    if not selection.tables and not selection.database:
        return []
    if selection.database:
        return ["--database", selection.database]
    if len(selection.tables) == 1:
        return ["--table", selection.tables[0]]
    return ["--tables", ",".join(selection.tables)]


def option_flags(options: Mapping[str, Any]) -> list[str]:
    """Return the flags of typed options, in the order of docs/wire.md."""
    flags: list[str] = []
    for key, option in OPTIONS.items():
        if option.flag and key in options:
            flags += _flag(option.flag, options[key])
    return flags


def _flag(flag: Flag, value: Any) -> list[str]:
    if isinstance(value, bool):
        name = flag.name if value else flag.off
        return [name] if name else []
    return [flag.name, _argument(value)]


def _argument(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def job_arguments(
    selection: Selection,
    *,
    request: str,
    report: str,
    nonce: Sequence[str] = (),
    options: Mapping[str, Any],
    run_id: str | None = None,
    own_flags: Sequence[str] = (),
) -> list[str]:
    """Return the arguments of a job that an operator starts.

    Args:
        nonce: the flag by which the report's line is known, with its value
        options: the options that are flags; the request has all others
        own_flags: flags that only this verb has, with their values
    """
    named = ["--run-id", run_id] if run_id else []
    return [
        *selection_flags(selection),
        *option_flags(options),
        "--request",
        request,
        "--report",
        report,
        *nonce,
        *named,
        *own_flags,
    ]


def has_launcher(own: Mapping[str, Any], spark: SparkSubmit) -> bool:
    """Tell whether ``script_path`` of the file is submitted, which gets the verb as its first argument."""
    return not own["application"] and bool(spark.script_path)


def submit_arguments(
    own: Mapping[str, Any], spark: SparkSubmit, script: str | None = None, archive: str | None = None
) -> dict[str, Any]:
    """Return arguments of SparkSubmitOperator; an operator's own take precedence over those of the file.

    Args:
        own: arguments of the operator by name, None where it was not given
        script: the job's script; not needed with a launcher
        archive: zip of the job sources; not needed with a launcher
    """
    merged = {name: value or _from_file(spark, name) for name, value in own.items()}
    ticket = own["use_krb5ccache"]
    py_files = own["py_files"] or ",".join(spark.py_files)
    return {
        **merged,
        **_identity(own, spark),
        "application": own["application"] or spark.script_path or script,
        "files": own["files"] or ",".join(spark.extra_files) or None,
        "py_files": ",".join(filter(None, (archive, py_files))) or None,
        "use_krb5ccache": spark.use_krb5ccache if ticket is None else boolean("use_krb5ccache", ticket),
    }


def _from_file(spark: SparkSubmit, name: str) -> Any:
    return getattr(spark, _SPARK_SUBMIT_KEYS.get(name, name), None)


def _identity(own: Mapping[str, Any], spark: SparkSubmit) -> dict[str, Any]:
    """Return keytab, principal and proxy user.

    spark-submit accepts a principal or a proxy user, not both. One that the operator names therefore excludes the
    other one of the file.
    """
    excluded: tuple[str, ...] = ("keytab", "principal") if own["proxy_user"] else ()
    excluded += ("proxy_user",) if own["keytab"] or own["principal"] else ()
    names = ("keytab", "principal", "proxy_user")
    return {name: own[name] or (None if name in excluded else getattr(spark, name)) for name in names}


def spark_conf(spark: SparkSubmit, given: Mapping[str, Any] | None, *, client: bool) -> dict[str, str]:
    """Return the Spark properties of an operator's job; its own take precedence over those of the file.

    YARN makes one application attempt: a second one would work on the tables while the first may still be
    alive, and Airflow retries anyway.
    """
    conf = {"spark.yarn.maxAppAttempts": "1", **_python(spark, client=client)}
    return {**conf, **spark.extra_conf, **{key: str(value) for key, value in (given or {}).items()}}


def _python(spark: SparkSubmit, *, client: bool) -> dict[str, str]:
    """Return the properties for ``python_env``.

    Inside an archive it exists on the cluster only; in client mode the driver runs on this machine and needs
    another Python, which the environment may name: a property takes precedence over that.
    """
    if not spark.python_env:
        return {}
    own = {"spark.pyspark.driver.python": _driver_python(spark.python_env)} if client else {}
    return {"spark.pyspark.python": spark.python_env, **own}


def _driver_python(of_file: str) -> str:
    """Return the Python of the file, if it is one of this machine, else that of the environment."""
    path = Path(of_file)
    if path.is_absolute() and path.is_file():
        return of_file
    return next(filter(None, map(os.environ.get, _DRIVER_PYTHON)), "python3")


def spark_submit_command(
    spark: SparkSubmit, script: str, arguments: Sequence[str], py_files: Sequence[str] = ()
) -> list[str]:
    """Return the command for a shell, with the flags in the order that Lakekeeper documents."""
    command = [spark.submit_command or "spark-submit", "--master", master(spark)]
    command += ["--deploy-mode", spark.deploy_mode or "client"]
    client = (spark.deploy_mode or "client") == "client"
    ticket = spark.use_krb5ccache and "spark.kerberos.renewal.credentials=ccache"
    for flag, value in (
        # spark-submit accepts a principal only with its keytab; a ticket cache already determines the principal.
        ("--principal", spark.principal if spark.keytab or not ticket else None),
        ("--keytab", spark.keytab),
        ("--conf", ticket),
        ("--proxy-user", spark.proxy_user),
        ("--conf", spark.queue and f"spark.yarn.queue={spark.queue}"),
        ("--archives", spark.archives),
        *(("--conf", f"{key}={value}") for key, value in _python(spark, client=client).items()),
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
    """Return the master of a shell command; unless the file sets ``enabled``, the job runs on this machine."""
    return (spark.master or "yarn") if spark.enabled else "local[*]"
