"""The configuration file of a job that a person starts. In Airflow the provider reads it and sends a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spark_jobs.core.errors import UsageError
from spark_jobs.core.shown import shortened

#: Sections for submitting and scheduling, which a job ignores.
_IGNORED_SECTIONS = ("spark_submit", "windows", "hive_server")
#: What PyYAML raises for a tag whose value has another form, a number with thousands of digits, or deep nesting.
_OF_VALUES = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


def parse_config(text: str, name: str) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """Parse a YAML or JSON text.

    Args:
        name: the name of the file. A name that ends with `.json` means JSON.

    Returns:
        The global settings, and the sections by table name.

    Raises:
        UsageError: the text is not valid.
    """
    data = _load(text, name)
    if data is None:
        return {}, {}
    if not isinstance(data, dict):
        raise UsageError(f"{name} must be a mapping of keys and values, not {type(data).__name__}")
    settings = {key: value for key, value in data.items() if key not in _IGNORED_SECTIONS}
    tables = settings.pop("tables", None) or {}
    if not isinstance(tables, dict) or not all(isinstance(section, dict) for section in tables.values()):
        raise UsageError(f"'tables' in {name} must map DATABASE.TABLE to options")
    return settings, tables


def _load(text: str, name: str) -> Any:
    if name.endswith(".json"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name} is not valid JSON: {shortened(str(error))}") from None
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{name} is YAML, and this Python has no PyYAML; install PyYAML or write the file as .json"
        ) from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, *_OF_VALUES) as error:
        raise UsageError(f"{name} is not valid YAML: {shortened(' '.join(str(error).split()))}") from None
