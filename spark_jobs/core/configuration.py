"""The configuration file that a job is given by hand. In Airflow the provider reads it, and sends a request instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spark_jobs.core.errors import UsageError

#: Sections that are about submitting and scheduling: not the job's business.
_OTHERS = ("spark_submit", "windows")


def parse_config(text: str, name: str) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """(global settings, sections by table) of a YAML or JSON text."""
    data = _load(text, name)
    if data is None:
        return {}, {}
    if not isinstance(data, dict):
        raise UsageError(f"{name} must hold keys and values, not {type(data).__name__}")
    settings = {key: value for key, value in data.items() if key not in _OTHERS}
    tables = settings.pop("tables", None) or {}
    if not isinstance(tables, dict) or not all(isinstance(section, dict) for section in tables.values()):
        raise UsageError(f"'tables' in {name} must map DATABASE.TABLE to options")
    return settings, tables


def _load(text: str, name: str) -> Any:
    if name.endswith(".json"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise UsageError(f"{name} is not valid JSON: {error}") from None
    try:
        import yaml
    except ImportError:
        raise UsageError(f"{name} is YAML, and this Python has no PyYAML; write it as .json") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{name} is not valid YAML: {' '.join(str(error).split())}") from None
