"""What surrounds the driver: versions, executors, ticket, the metastore's version and rights. For the verb `doctor`."""

from __future__ import annotations

import os
import platform
import re
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.hive_client import metastore_client, server_version
from spark_jobs.adapters.hadoop.java_errors import is_java_error, java_errors, message_of
from spark_jobs.core.messages.errors import LakekeeperError, in_one_line
from spark_jobs.protocol.surroundings import MetastoreVersions, Ticket, Versions

#: More tasks than this would only be more of the same.
_MOST_TASKS = 16
_GROUP = "lakekeeper doctor"
_EXCEPTION = re.compile(r".*((?:\w+\.)+\w*(?:Exception|Error): .*)", re.DOTALL)
#: The pattern takes its time for longer texts.
_LONGEST_REASON = 2_000
_CLIENT_VERSION = "spark.sql.hive.metastore.version"


class SparkSurroundings:
    """Asks the driver's JVM, and its executors."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._context: Any = spark.sparkContext
        self._jvm: Any = spark._jvm
        self._conf = self._context._jsc.hadoopConfiguration()

    def versions(self) -> Versions:
        """Return the programs of this driver."""
        return Versions(
            spark=self._spark.version,
            home=os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent),
            java=str(self._jvm.java.lang.System.getProperty("java.version")),
            python=platform.python_version(),
            master=str(self._context.master),
            deploy_mode=self._context.getConf().get("spark.submit.deployMode", "client"),
            host=socket.gethostname(),
        )

    def executors(self, seconds: float) -> Mapping[str, int]:
        """Run some tasks, and return the number of them by host and versions of Spark and Java."""
        return self._within(seconds, self._ask_java)

    def executors_python(self, seconds: float) -> Mapping[str, int]:
        """Run some tasks in Python, and return the number of them by host and version."""
        return self._within(seconds, self._ask_python)

    def _within(self, seconds: float, ask: Callable[[], list[str]]) -> Mapping[str, int]:
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self._in_group, ask)
            try:
                return Counter(asked.result(seconds))
            except TimeoutError:
                self._context.cancelJobGroup(_GROUP)
                raise LakekeeperError(f"no executor has run a task within {seconds:.0f} s") from None
            except Exception as error:
                # PySpark 3.3 cannot send a function of Python 3.11 or later, which the jobs do not need.
                why = _reason_of_task(str(error)) if is_java_error(error) else in_one_line(error)
                raise LakekeeperError(why) from None

    def _in_group(self, ask: Callable[[], list[str]]) -> list[str]:
        self._context.setJobGroup(_GROUP, "ask the executors for their versions", interruptOnCancel=True)
        return ask()

    @property
    def _tasks(self) -> int:
        return min(_MOST_TASKS, max(2, int(self._context.defaultParallelism)))

    def _ask_java(self) -> list[str]:
        # Static methods of Java, which Spark calls where the task runs: the jobs need no Python there.
        rows = self._spark.range(0, self._tasks, 1, self._tasks).selectExpr(
            "reflect('org.apache.spark.package', 'SPARK_VERSION')",
            "reflect('java.lang.System', 'getProperty', 'java.version')",
            "reflect('java.net.InetAddress', 'getLocalHost')",
        )
        return [
            f"Spark {row[0]} and Java {row[1]} on {str(row[2]).partition('/')[0]}" for row in rows.collect()
        ]

    def _ask_python(self) -> list[str]:
        # A lambda travels by its value: the executors need not have this module.
        about = self._context.parallelize(range(self._tasks), self._tasks).map(
            lambda _: f"Python {__import__('platform').python_version()} on {__import__('socket').gethostname()}"
        )
        return [str(text) for text in about.collect()]

    def ticket(self) -> Ticket:
        """Return how Hadoop's client knows the account. One that acts for another one uses its own ticket."""
        groups = self._jvm.org.apache.hadoop.security.UserGroupInformation
        with java_errors("cannot find out the current user"):
            user = groups.getCurrentUser()
            own = user.getRealUser() or user
            return Ticket(
                secured=bool(groups.isSecurityEnabled()),
                account=str(user.toString()) if user.getRealUser() else str(user.getUserName()),
                valid=bool(own.hasKerberosCredentials()),
                ends=self._end_of_ticket(own),
                by_keytab=bool(groups.isLoginKeytabBased()),
                tokens=int(user.getCredentials().numberOfTokens()),
            )

    def _end_of_ticket(self, user: Any) -> datetime | None:
        """Return when the ticket ends; None if it is not known: no public method of Hadoop's client tells."""
        try:
            ticket = self._invoke(user.getClass(), "getTGT", user)
        except Exception as error:
            if not is_java_error(error):
                raise
            return None
        return ticket and datetime.fromtimestamp(ticket.getEndTime().getTime() / 1000, timezone.utc)

    def metastore_versions(self) -> MetastoreVersions:
        """Return the versions of Spark's client of the metastore and of the server."""
        built_in = self._jvm.org.apache.spark.sql.hive.HiveUtils.builtinHiveVersion()
        client = str(self._spark.conf.get(_CLIENT_VERSION, built_in))
        catalog = self._spark._jsparkSession.sharedState().externalCatalog()
        try:
            return MetastoreVersions(client, server_version(self._jvm, metastore_client(self._jvm, catalog)))
        except Py4JError as error:
            # The version is only shown: to look it up by names that are not public must not fail a check.
            known = isinstance(error, Py4JJavaError)
            return MetastoreVersions(client, None, message_of(error) if known else in_one_line(error))

    def _invoke(self, owner: Any, name: str, target: Any) -> Any:
        new_array = self._context._gateway.new_array
        method = owner.getDeclaredMethod(name, new_array(self._jvm.java.lang.Class, 0))
        method.setAccessible(True)
        return method.invoke(target, new_array(self._jvm.java.lang.Object, 0))

    def safe_mode(self, path: str) -> bool:
        """Tell whether the NameNode of a path refuses writes."""
        if not path.startswith("hdfs:"):
            return False
        with java_errors(f"cannot ask for the safe mode of {path}"):
            return bool(self._file_system(path).isInSafeMode())

    def check_access(self, path: str, rights: str) -> None:
        """Raise PermissionError if the account lacks one of these rights (of `rwx`) in a directory."""
        action = self._jvm.org.apache.hadoop.fs.permission.FsAction.getFsAction(rights)
        with java_errors(f"no access to {path}"):
            self._file_system(path).access(self._jvm.org.apache.hadoop.fs.Path(path), action)

    def trash_root(self, path: str) -> str:
        """Return the directory of the trash to which the account would move a path."""
        with java_errors(f"cannot find out the trash of {path}"):
            root = self._file_system(path).getTrashRoot(self._jvm.org.apache.hadoop.fs.Path(path))
            return str(root.toString())

    def _file_system(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path).getFileSystem(self._conf)


def _reason_of_task(text: str) -> str:
    """Return the reason in the error of a job: the last exception that it names before the stack of Java."""
    named = _EXCEPTION.match(text.partition("\n\tat ")[0][:_LONGEST_REASON])
    return f"a task has failed: {named[1].strip()}" if named else text
