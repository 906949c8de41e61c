"""A Hive Metastore 4.0.1 on loopback, whose partition discovery runs every second; and what Spark 3.5 needs to use it.

with Metastore4(Path(".scratch/metastore4")) as metastore:
    environ = spark_environ("spark-3.5", metastore.uri, folder, conf=spark_settings())
"""

from __future__ import annotations

from pathlib import Path

import yaml

from demo.services.java import java_command
from demo.services.metastore import Metastore
from demo.services.ports import HOST
from tests.contract.doc_blocks import blocks
from tests.engines import jars

#: The page that says how Spark 3.5 uses a metastore of Hive 4, and the folder that its lines name.
PAGE = "docs/guides/engines.md"
_DOCUMENTED_FOLDER = "/opt/hive-3.1.3/lib"

SETTINGS = {
    # Its main class listens on all interfaces otherwise.
    "metastore.thrift.bind.host": HOST,
    # Discovery, and none of the tasks about transactions, whose tables this database lacks.
    "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.PartitionManagementTask",
    "metastore.partition.management.task.frequency": "1s",
    "hive.metastore.event.db.notification.api.auth": "false",
}
_OPENED = (
    *(f"java.base/java.{name}" for name in ("io", "lang", "math", "net", "nio", "text", "time", "util")),
    *(f"java.base/java.lang.{name}" for name in ("invoke", "reflect")),
    *(f"java.base/java.util.{name}" for name in ("concurrent", "concurrent.atomic", "regex")),
    *("java.base/sun.nio.ch", "java.base/sun.nio.cs", "java.base/sun.security.action"),
    *("java.sql/java.sql", "java.security.jgss/sun.security.krb5"),
)


class Metastore4(Metastore):
    """One metastore process of Hive 4.0.1, by its own main class."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, jars=jars.folder("hive4"), settings=SETTINGS)

    def _command(self) -> list[str]:
        conf = self.directory / "conf"
        return [
            *(java_command() or "java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
            f"-Dlog4j2.configurationFile={conf / 'metastore-log4j2.properties'}",
            f"-Dderby.stream.error.file={self.directory / 'derby.log'}",
            "-Dderby.system.durability=test",
            *("-cp", f"{conf}:{self._jars}/*"),
            *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self.port)),
        ]


def documented_settings() -> dict[str, str]:
    """Return the settings of Spark as the page has them."""
    found = [block.text for block in blocks("yaml") if block.page == PAGE]
    (text,) = [text for text in found if "spark.sql.hive.metastore.version" in text]
    settings: dict[str, object] = yaml.safe_load(text)["spark_submit"]["extra_conf"]
    return {name: str(value) for name, value in settings.items()}


def spark_settings() -> dict[str, str]:
    """Return the documented settings, with the folder of Hive 3.1.3 that is here."""
    here = jars.folder("hive3").as_posix()
    return {name: value.replace(_DOCUMENTED_FOLDER, here) for name, value in documented_settings().items()}
