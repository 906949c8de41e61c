"""A Java process with the classes of one library, and nothing of Spark's but Hadoop and py4j."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from demo.services import paths

#: Hadoop, and what it needs, is that of Spark 3.5: the libraries leave it out.
_SHARED = (
    "hadoop-client-api-*",
    "hadoop-client-runtime-*",
    "commons-logging-*",
    "slf4j-api-2*",
    "py4j-*",
    "snappy-java-*",
    "zstd-jni-*",
    "xz-*",
    "commons-compress-*",
    "jackson-core-*",
    "jackson-mapper-*",
    "jackson-annotations-*",
    "jackson-databind-*",
)
_SPARK_JARS = "lib/python*/site-packages/pyspark/jars"
_OPENED = ("java.lang", "java.net", "java.util", "java.nio", "sun.nio.ch")


@contextmanager
def process(folder: Path, zone: str = "UTC") -> Iterator[Any]:
    """The JVM of a process that has the jars of a directory. It ends with the block."""
    (spark,) = paths.env_dir("spark-3.5").glob(_SPARK_JARS)
    jars = [
        *sorted(folder.glob("*.jar")),
        *(jar for name in _SHARED for jar in sorted(spark.glob(f"{name}.jar"))),
    ]
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
    port, token = launch_gateway(
        jarpath=str(next(spark.glob("py4j-*.jar"))),
        classpath=":".join(map(str, jars)),
        javaopts=[f"-Duser.timezone={zone}", *opened],
        die_on_exit=True,
        enable_auth=True,
    )
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_field=True, auto_convert=True)
    )
    try:
        yield gateway.jvm
    finally:
        gateway.shutdown()


def array(values: Any, items: Sequence[Any], start: int = 0) -> None:
    """Set the elements of a Java array."""
    for number, item in enumerate(items, start):
        values[number] = item
