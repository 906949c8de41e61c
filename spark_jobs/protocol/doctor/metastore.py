"""The checks of the metastore: where it is, whether it answers, and whether Spark's client is one for it."""

from __future__ import annotations

from spark_jobs.core.messages.errors import LakekeeperError, UsageError
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.checks import Answer, bad, good
from spark_jobs.protocol.ports import Catalog
from spark_jobs.protocol.surroundings import Surroundings

#: What a server says that does not have a call any more, or not yet.
_UNKNOWN_CALL = "Invalid method name"
#: A table that does not exist: to look it up is one call, which all the other verbs make too.
_NOBODYS = TableName("default", "lakekeeper_doctor_looks_up_this_name")


def metastore(catalog: Catalog) -> Answer:
    """Ask for the names of the databases."""
    try:
        return good(f"it answers: {len(catalog.databases())} databases")
    except UsageError as error:
        return bad(str(error), "Do that where the driver runs; on CDP, deploy the Hive gateway there")


def client(catalog: Catalog, around: Surroundings) -> Answer:
    """Make a call that servers of Hive 4 do not have any more, and compare the versions."""
    found = around.metastore_versions()
    server = (
        f"the metastore says that it is of Hive {found.server}"
        if found.server
        else f"the metastore's version is not known ({found.unknown})"
    )
    shown = f"Spark's client is of Hive {found.client}; {server}"
    try:
        catalog.table_exists(_NOBODYS)
    except LakekeeperError as error:
        if _UNKNOWN_CALL not in str(error):
            raise
        return bad(
            f"{shown}; it does not understand the client: {error}",
            "Set spark.sql.hive.metastore.version=3.1.3 (or 4.0.1 with a Spark that has it),"
            " spark.sql.hive.metastore.jars=path and spark.sql.hive.metastore.jars.path to the jars of that client",
        )
    return good(shown)
