"""The keys of the section ``spark_submit`` of the YAML file."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.parsers import (
    Parser,
    WrongValue,
    boolean,
    choice,
    integer,
    mapping,
    text,
    text_list,
    wrong,
)

#: The programs of Lakekeeper 0.0.6, and of what it was called before.
_LAKEKEEPERS = ("run_lakekeeper.py", "run_beekeeper.py")
_VARIABLE = re.compile(r"[A-Za-z0-9_.*?\[\]!-]+")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Key:
    """One key of the section.

    Args:
        parse: returns the typed value
        help: what the YAML template says of it
        example: the value in the YAML template, commented out
    """

    parse: Parser
    help: str
    example: Any


def _key(parse: Parser, help: str, example: Any, default: Any = None) -> Any:
    return field(default=default, metadata={"key": Key(parse, help, example)})


def _conf_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # Spark reads "true", not Python's "True"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise wrong(name, value, "a string or a number")


def _conf(name: str, value: Any) -> dict[str, str]:
    return {str(key): _conf_value(f"{name}.{key}", entry) for key, entry in mapping(name, value).items()}


def _files(name: str, value: Any) -> tuple[str, ...]:
    return tuple(text_list(name, value))


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Accept names and globs of environment variables: a value in the file would be a secret in the wrong place."""
    names = tuple(text_list(name, value))
    for each in names:
        if not _VARIABLE.fullmatch(each):  # guard: names_of_variables_only
            raise wrong(name, each, "the name of an environment variable, or a glob such as AWS_*")
    return names


def _script(name: str, value: Any) -> str | None:
    """Accept an entry point of one's own. Lakekeeper's takes neither lease nor journal, and is not started."""
    path: str = text(name, value)
    if path.rpartition("/")[2] in _LAKEKEEPERS:
        log.warning(
            "%s: %s is ignored, and the jobs of this package are submitted; remove the line. A program of this name is"
            " that of Lakekeeper 0.0.6, which does not know the leases and journals of this package, or the one that"
            " generate-bundle writes for spark-submit by hand",
            name,
            path,
        )
        return None
    return path


_CONF = Parser(_conf, {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}})
_FILES = Parser(_files, text_list.schema)
_NAMES = Parser(_names, text_list.schema)
_SCRIPT = Parser(_script, text.schema)


@dataclass(frozen=True)
class SparkSubmit:
    """The section ``spark_submit``; None where the file says nothing. ``KEYS`` describes the fields."""

    enabled: bool = _key(
        boolean,
        "Command line only: submit to the master below (true), or run Spark on this machine (false). The operators"
        " always submit, to the master of their Airflow connection; a master here must be the same one.",
        False,
        False,
    )
    submit_command: str | None = _key(
        text, "Where spark-submit starts Spark 2 (Cloudera CDP), use spark3-submit.", "spark-submit"
    )
    master: str | None = _key(text, "Command line: yarn by default.", "yarn")
    deploy_mode: str | None = _key(choice("client", "cluster"), "Command line: client by default.", "client")
    principal: str | None = _key(text, "Kerberos principal, with its keytab.", "myuser@MY.REALM.COM")
    keytab: str | None = _key(text, "", "/etc/security/keytabs/myuser.keytab")
    proxy_user: str | None = _key(text, "The user that the job acts for; not with a principal.", "etl")
    use_krb5ccache: bool = _key(
        boolean,
        "Use the ticket that `airflow kerberos` renews, in the cache that KRB5CCNAME names.",
        True,
        False,
    )
    queue: str | None = _key(text, "YARN queue.", "data-engineering")
    archives: str | None = _key(
        text,
        "A packed Python environment, and the interpreter in it. The jobs need nothing besides PySpark.",
        "/opt/lakekeeper_env.tar.gz#lakekeeper_env",
    )
    python_env: str | None = _key(text, "", "./lakekeeper_env/bin/python")
    executor_memory: str | None = _key(text, "Resources of the job.", "4g")
    num_executors: int | None = _key(integer(1), "", 10)
    executor_cores: int | None = _key(integer(1), "", 2)
    driver_memory: str | None = _key(text, "", "2g")
    script_path: str | None = _key(
        _SCRIPT,
        "Your own entry point instead of the jobs of this package, called as: <script_path> <verb> ...; the program of"
        " Lakekeeper 0.0.6 is ignored, with a warning.",
        "/opt/launcher.py",
    )
    extra_conf: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"key": Key(_CONF, "Spark properties.", {"spark.yarn.kerberos.relogin.period": "1h"})},
    )
    extra_files: tuple[str, ...] = _key(
        _FILES, "Files for --files and --py-files.", ["/etc/hive/conf/hive-site.xml"], ()
    )
    py_files: tuple[str, ...] = _key(_FILES, "", ["/opt/mypackage.whl"], ())
    report_dir: str | None = _key(
        text,
        "Operators in cluster mode: the directory where request and report are exchanged; worker and driver must both"
        " reach it.",
        "webhdfs://namenode:9870/lakekeeper",
    )
    pass_environment: tuple[str, ...] = _key(
        _NAMES,
        "Operators in client mode: further variables of the worker's environment for spark-submit, by name or glob;"
        " '*' passes all of them, also Airflow's keys. Without it: what Spark, Hadoop and Kerberos need"
        " (docs/guides/cluster-mode.md).",
        ["JAVA_TOOL_OPTIONS", "AWS_*"],
        (),
    )


#: By name, in the order of the YAML template.
KEYS: Mapping[str, Key] = {each.name: each.metadata["key"] for each in fields(SparkSubmit)}
#: The types of keys whose values are never secrets, so that a message may show them.
_SHOWN = ("boolean", "integer")


def parsed(name: str, value: Any) -> Any:
    """Return the typed value of a key.

    Raises:
        UsageError: it is wrong; a text of this section may be a password, or hold one, and is not shown
    """
    key = KEYS[name]
    try:
        return key.parse(f"spark_submit.{name}", value)
    except WrongValue as error:
        if "enum" in key.parse.schema or key.parse.schema.get("type") in _SHOWN:
            raise
        raise UsageError(error.unshown) from None
