"""A table format in a session of Spark: its extension, its catalog, and what the session lacks of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast
from urllib.parse import unquote

from pyspark.sql import SparkSession

from spark_jobs.adapters.native.statements import NoTable, Statements
from spark_jobs.adapters.spark.sessions import statement_session
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.protocol.native_ports import NativeTable

_CATALOG = "spark.sql.catalog."
#: Scheme, authority and path.
_URI = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*:)?(?://([^/]*))?)?(.*)", re.DOTALL)


def settings_of(spark: SparkSession, prefix: str) -> dict[str, str]:
    """Return the settings of a session whose names begin with a text."""
    jvm = cast(Any, spark._jvm)
    settings = spark._jsparkSession.sessionState().conf().settings()
    names = str(jvm.java.lang.String.join("\n", settings.keySet())).split("\n")
    return {name: str(settings.get(name)) for name in names if name.startswith(prefix)}


def catalogs(spark: SparkSession) -> dict[str, str]:
    """Return the classes of the catalogs of a session, by their names; that of Spark itself first."""
    found = {key[len(_CATALOG) :]: value for key, value in settings_of(spark, _CATALOG).items()}
    named = sorted(name for name in found if "." not in name)
    return {name: found[name] for name in sorted(named, key=lambda name: name != "spark_catalog")}


def has_class(spark: SparkSession, name: str) -> bool:
    """Tell whether the driver has a class: an extension whose jar is missing is only a warning of Spark's."""
    try:
        cast(Any, spark._jvm).org.apache.spark.util.Utils.classForName(name, False, False)
    except Exception:
        return False
    return True


@dataclass(frozen=True)
class Needs:
    """What a session needs for a format.

    Attributes:
        extension: the class of its extension, which is in its jar.
        catalogs: the classes of its catalogs.
        settings: what to add to a session, with `VERSION` for the version of Spark.
    """

    extension: str
    catalogs: tuple[str, ...]
    settings: str


class SparkFormat:
    """A format in one session of Spark. Nothing is asked of Spark before a table of the format is found."""

    def __init__(
        self, spark: SparkSession, name: str, needs: Needs, table: Callable[[Statements], NativeTable]
    ) -> None:
        self.name = name
        self._spark = spark
        self._needs = needs
        self._table = table

    @cached_property
    def _catalogs(self) -> list[str]:
        """Return the catalogs of the format."""
        found = catalogs(self._spark)
        return [name for name, kind in found.items() if kind in self._needs.catalogs]

    @cached_property
    def _session(self) -> SparkSession:
        """Return a session for SQL text with the catalogs, and otherwise with Spark's defaults."""
        session = statement_session(self._spark)
        for key, value in settings_of(self._spark, _CATALOG).items():
            session.conf.set(key, value)
        return session

    def lacks(self) -> str | None:
        """Return the settings that the session lacks."""
        extensions = self._spark.conf.get("spark.sql.extensions", None) or ""
        extension = self._needs.extension
        if extension in extensions and self._catalogs and has_class(self._spark, extension):
            return None
        version = ".".join(self._spark.version.split(".")[:2])
        settings = self._needs.settings.replace("VERSION", version)
        return f"Spark's session lacks its jar, extension or catalog. Add to extra_conf of spark_submit: {settings}"

    def table(self, facts: TableFacts) -> NativeTable:
        """Return the table of the first catalog that has it at its location.

        A catalog may have another table of this name, which must not be worked on.
        """
        others = []
        for catalog in self._catalogs:
            table = self._table(Statements(self._session, catalog, facts))
            try:
                location = table.location()
            except NoTable:
                continue
            except LakekeeperError as error:
                # One catalog that does not answer keeps no table of another one from being worked on.
                others.append(str(error))
                continue
            if is_same_place(location, facts.storage.location):
                return table
            others.append(f"{catalog} has another one at {location}")
        named = "; ".join(others) or f"none of {', '.join(self._catalogs)} has it"
        raise Refusal(
            RefusalCode.NO_CATALOG,
            f"no catalog of the session has {facts.name} at {facts.storage.location}: {named}",
        )


def is_same_place(one: str, other: str) -> bool:
    """Tell whether two URIs name one directory. Catalogs write it with and without its file system."""
    (system, path), (other_system, other_path) = _parts(one), _parts(other)
    return path == other_path and (not system or not other_system or system == other_system)


def _parts(uri: str) -> tuple[str, str]:
    """Return the file system of a URI, empty without one, and the path: in a location `?` and `#` are letters."""
    scheme, authority, path = _URI.fullmatch(uri).groups("")  # type: ignore[union-attr]
    return (f"{scheme}//{authority}".lower() if authority else ""), unquote(path).rstrip("/")
