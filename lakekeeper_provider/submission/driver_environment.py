"""The environment of a driver on a worker: what a Spark client needs of the worker's own, and not its secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

#: The variables that a Spark client, Hadoop's configuration and Kerberos need; names and globs.
PASSED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "LD_LIBRARY_PATH"),
    *(
        "JAVA_HOME",
        "CLASSPATH",
        "SPARK_*",
        "PYSPARK_*",
        "HADOOP_*",
        "HDFS_*",
        "YARN_*",
        "MAPRED_*",
        "HIVE_*",
        "KRB5*",
    ),
)


@dataclass(frozen=True)
class DriverEnvironment:
    """The environment of spark-submit in client mode, where the driver has it too.

    A worker's own has the keys of Airflow's database and connections. A driver works on what many people write.

    Args:
        variables: all that the process gets
        left_out: the names of the worker's variables that it does not get
    """

    variables: Mapping[str, str]
    left_out: tuple[str, ...]

    @classmethod
    def of(
        cls, worker: Mapping[str, str], more: Sequence[str], own: Mapping[str, Any] | None
    ) -> DriverEnvironment:
        """Return the environment.

        Args:
            worker: the environment of the worker
            more: names and globs of further variables to pass on
            own: the operator's ``env_vars``, which have priority
        """
        given = {name: str(value) for name, value in (own or {}).items()}
        # guard: driver_variables_allowed
        passed = {name: value for name, value in worker.items() if _is_passed(name, more)}
        left_out = tuple(sorted(worker.keys() - passed.keys() - given.keys()))
        return cls({**passed, **given}, left_out)


def _is_passed(name: str, more: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in (*PASSED, *more))
