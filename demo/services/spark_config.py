"""Configure Spark: write its settings, and return the environment variables with which programs find them.

There is no SPARK_CONF_DIR: it would be on the class path, and Java uses no archive of classes with a directory there.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from demo.services import class_archive, java, paths
from demo.services.processes import own_environ

LOG4J_FILE = "log4j2.properties"
LOG4J = """\
status = error
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.err.ref = err
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.hiveconf.name = org.apache.hadoop.hive.conf.HiveConf
logger.hiveconf.level = error
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = error
logger.filterhook.name = org.apache.hadoop.hive.ql.session.SessionState
logger.filterhook.level = error
"""


def spark_environ(
    env: str,
    metastore_uri: str,
    scratch: Path,
    *,
    conf: Mapping[str, str] | None = None,
    shared_classes: bool = True,
) -> dict[str, str]:
    """Return all environment variables for `spark-submit`, or for a session inside this process.

    Args:
        conf: settings that win over the defaults: a benchmark needs Java's own options.
        shared_classes: Java starts with the environment's archive of classes. A cluster has none.
    """
    scratch = scratch.resolve()
    settings = _write_settings(scratch, metastore_uri, conf or {})
    home = paths.spark_home(env)
    program = _write_program(scratch, home, settings)
    options = [f"-Dlog4j2.configurationFile={(settings.parent / LOG4J_FILE).as_uri()}"]
    if shared_classes:
        options.append(class_archive.java_options(env))
    return {
        **program_environ(env),
        "PYSPARK_SUBMIT_ARGS": f"--properties-file {shlex.quote(str(settings))} pyspark-shell",
        "SPARK_SUBMIT_OPTS": " ".join(options),
        "SPARK_LOCAL_DIRS": str(scratch / "spark-local"),
        "PATH": os.pathsep.join([str(program.parent), str(home / "bin"), os.environ.get("PATH", os.defpath)]),
    }


def program_environ(env: str) -> dict[str, str]:
    """Return the variables of any program of an environment's Spark: which Spark, which Python, and the loopback."""
    python = str(paths.env_python(env))
    return {
        **own_environ(),
        "SPARK_HOME": str(paths.spark_home(env)),
        "PYSPARK_PYTHON": python,
        "PYSPARK_DRIVER_PYTHON": python,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _write_settings(scratch: Path, metastore_uri: str, extra: Mapping[str, str]) -> Path:
    """Write the files of settings, and return that of Spark's properties."""
    directory = scratch / "spark-conf"
    directory.mkdir(parents=True, exist_ok=True)
    settings = {**_defaults(scratch, metastore_uri), **extra}
    (directory / LOG4J_FILE).write_text(LOG4J)
    properties = directory / "spark-defaults.conf"
    properties.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    return properties


def _write_program(scratch: Path, home: Path, settings: Path) -> Path:
    """Write a `spark-submit` that reads the settings, and return it."""
    program = scratch / "bin" / "spark-submit"
    program.parent.mkdir(exist_ok=True)
    words = shlex.join([str(home / "bin" / "spark-submit"), "--properties-file", str(settings)])
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
    return program


def _defaults(scratch: Path, metastore_uri: str) -> dict[str, str]:
    return {
        "spark.master": "local[2]",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore_uri,
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.hadoop.hive.exec.scratchdir": str(scratch / "hive-scratch"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java.DRIVER_OPTIONS,
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }
