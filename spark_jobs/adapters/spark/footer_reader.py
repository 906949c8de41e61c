"""Reads the footers and headers of data files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.values.model import FileListing


class FooterReader:
    """Reads footers and headers with the formats' own Java readers, on the driver."""

    def __init__(self, formats: Mapping[str, SparkFormat]) -> None:
        self._formats = formats

    def read(self, directories: Sequence[tuple[str, FileListing]], file_format: str) -> list[list[Footer]]:
        """Return the footers of the data files of each directory. See the port for what it raises."""
        return self._formats[file_format].read(directories)
