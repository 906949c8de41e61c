"""A Hive Metastore of Hive 3.1, as most clusters have it, on the Java of this machine."""

from __future__ import annotations

from pathlib import Path

from demo.services.metastore import Metastore
from tests.engines import jars, java_programs
from tests.engines.hive import patched

#: Its name for people, with its version.
NAME = jars.SHOWN["hive3"].partition(" (")[0]


def metastore3(folder: Path) -> Metastore:
    """Return a metastore that keeps its database in this folder, and is not started yet.

    Hive sends it conditions on partitions in a form that its classes read as Hive's own do, on Java 17 too.
    """
    home = jars.folder("hive3")
    settings = {"hive.metastore.event.db.notification.api.auth": "false"}
    environ = {"JDK_JAVA_OPTIONS": " ".join(java_programs.opened())}
    patched(home, folder / "conf")
    return Metastore(folder, jars=home, settings=settings, environ=environ)
