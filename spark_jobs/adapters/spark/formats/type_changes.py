"""Compares the physical types of files with those that Spark would write."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.adapters.spark.spark_types import Reading
from spark_jobs.core.formats.footers import Footer, Leaves


def changed_type(wanted: Leaves, leaves: Leaves) -> str | None:
    """Return the first column whose type would change, as a sentence."""
    for path in sorted(wanted.keys() | leaves.keys()):
        was, now = wanted.get(path, "absent"), leaves.get(path, "absent")
        if was != now:
            return f"column '{path}' is {was}, and Spark would write it as {now}"
    return None


def with_reading(footer: Footer, reading: Reading) -> Footer:
    """Return the footer with the columns as Spark reads them, or with the reason why it cannot."""
    return replace(footer, struct=reading.struct, problem=reading.problem)
