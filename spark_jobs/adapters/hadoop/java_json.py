"""Fetches Java objects as JSON: one call to the JVM instead of several for each field."""

from __future__ import annotations

import json
from typing import Any

from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    STRING_TYPE,
    SUCCESS,
    get_command_part,
    get_return_value,
)

_METHOD = "writeValueAsString"
_TEXT = SUCCESS + STRING_TYPE


def java_json(mapper: Any, value: Any) -> Any:
    """Return what a Jackson mapper writes for a Java object, decoded.

    py4j escapes backslashes and line ends of a text, and its decoder takes longer than that of JSON. JSON has no line
    ends within strings, and Jackson writes none between them, so that only backslashes are escaped.
    """
    client = mapper._gateway_client
    argument = get_command_part(value)
    answer = client.send_command(
        f"{CALL_COMMAND_NAME}{mapper._target_id}\n{_METHOD}\n{argument}{END_COMMAND_PART}"
    )
    if not answer.startswith(_TEXT):
        return get_return_value(answer, client, mapper._target_id, _METHOD)
    return json.loads(answer[len(_TEXT) :].replace("\\\\", "\\"))
