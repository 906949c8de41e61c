"""The body of a run's first record."""

from __future__ import annotations

from typing import Any


def run_body(**other: Any) -> dict[str, Any]:
    """Return the fields that a job writes, with other values for some of them."""
    identities = {"home_id": "hdfs:1", "directory_id": "hdfs:2"}
    return {"table": "db.t", "location": "file:/t", "homes": [], "user": None, **identities, **other}
