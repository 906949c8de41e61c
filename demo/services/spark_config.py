"""Configure Spark: write a SPARK_CONF_DIR, and return the environment variables that select it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from demo.services import paths
from demo.services.processes import own_environ

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

#: A driver that lives for minutes gains nothing from the optimizing compiler, nor from parallel garbage collection.
#: Without that compiler Java reserves only 48 MB for code, which the queries of a long suite fill.
JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
if sys.platform.startswith("linux"):
    # Without its native library, Hadoop starts a `chmod` for each file and folder on a local disk. VFORK saves the
    # helper process that Java would start before each of them.
    JAVA += " -Djdk.lang.Process.launchMechanism=VFORK"


def spark_environ(
    env: str, metastore_uri: str, scratch: Path, *, conf: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return all environment variables for `spark-submit`, or for a session inside this process.

    `conf` is added to spark-defaults.conf, and wins over the defaults: a benchmark needs Java's own options.
    """
    scratch = scratch.resolve()
    directory = write_conf(scratch, metastore_uri, conf or {})
    home, python = paths.spark_home(env), paths.env_python(env)
    return {
        **own_environ(),
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(directory),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(scratch / "spark-local"),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }


def write_conf(scratch: Path, metastore_uri: str, extra: Mapping[str, str]) -> Path:
    """Write the configuration files below `scratch`, and return their folder."""
    directory = scratch / "spark-conf"
    directory.mkdir(parents=True, exist_ok=True)
    settings = {**_defaults(scratch, metastore_uri), **extra}
    lines = (f"{key} {value}\n" for key, value in settings.items())
    (directory / "spark-defaults.conf").write_text("".join(lines))
    (directory / "log4j2.properties").write_text(LOG4J)
    return directory


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
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
    }
