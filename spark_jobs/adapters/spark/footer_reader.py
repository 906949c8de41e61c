"""Reads the footers and headers of data files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.core.formats.footers import Footer


class FooterReader:
    """Reads footers and headers with the formats' own Java readers, on the driver."""

    def __init__(self, formats: Mapping[str, SparkFormat]) -> None:
        self._formats = formats

    def read(self, files: Sequence[str], file_format: str) -> list[Footer]:
        """Return one Footer for each file URI, in this order. Raise OSError for a file that is not of the format."""
        return self._formats[file_format].read(files)
