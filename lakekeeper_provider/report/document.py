"""The JSON of a report, as another program has written it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lakekeeper_provider.exceptions import ReportError

#: A zero byte, and half a character of UTF-16. A record of a table may have one, and JSON has an escape for each.
_NOT_STORED = re.compile("[\x00\ud800-\udfff]")
#: As a report has them. Few have any, and many have tens of thousands of units.
_ESCAPED = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)


def read(content: str | bytes) -> Any:
    """Return the value of a JSON text, in which all texts can be stored.

    Raises:
        ReportError: it is no JSON
    """
    try:
        text = content if isinstance(content, str) else content.decode()
        return _storable(json.loads(text)) if _ESCAPED.search(text) else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report is not valid JSON: {error}") from None


def _storable(value: Any) -> Any:
    """Return a value of JSON in which all texts can be stored: a task whose XCom cannot be would fail every night."""
    if isinstance(value, str):
        return _NOT_STORED.sub("\ufffd", value)  # guard: texts_can_be_stored
    if isinstance(value, dict):
        return {_storable(key): _storable(each) for key, each in value.items()}
    return list(map(_storable, value)) if isinstance(value, list) else value


def items(data: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """Return a list of a report; none where the report has none.

    Raises:
        ReportError: it is no list
    """
    value = data.get(key)
    if value is not None and not isinstance(value, list):
        raise ReportError(f"{key} of the report is no list: {str(value)[:200]!r}")
    return tuple(value or ())


def text(data: Mapping[str, Any], key: str) -> str | None:
    """Return a text of a report, or None.

    Raises:
        ReportError: it is no text
    """
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise ReportError(f"{key} of the report is no text: {str(value)[:200]!r}")
    return value
