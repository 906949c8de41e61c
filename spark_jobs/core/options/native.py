"""The options about tables of formats that keep lists of their own files."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.options.backups import BackupOptions
from spark_jobs.core.options.option import CLEANUP, NO_PROPERTY, Section, option, switch
from spark_jobs.core.options.parsers import words

#: The formats with an adapter (`spark_jobs/adapters/native`).
NATIVE_FORMATS = ("iceberg", "paimon")


@dataclass(frozen=True)
class NativeOptions(BackupOptions):
    """Tables of formats with procedures of their own."""

    native_formats: tuple[str, ...] = option(
        (),
        words(*NATIVE_FORMATS),
        "also tables of these formats, by their own procedures: iceberg, paimon (comma-separated)",
        flag="--native-formats",
        metavar="FORMATS",
        layers=NO_PROPERTY,
        section=Section.SELECTION,
        note="Spark needs the jar, the extension and a catalog of each format. A table is left out by its property"
        " lakekeeper.enabled=false.",
        example=["iceberg"],
    )
    native_expiry: bool = switch(
        "with native_formats, also expire the commits of such tables that are older than older_than",
        flag="--native-expiry",
        verbs=(CLEANUP,),
        layers=NO_PROPERTY,
        section=Section.BACKUP,
        note="Nothing earlier can be read or rolled back to then. older_than must not be shorter than the table's own"
        " retention.",
    )
