"""Exchanges large values with the JVM: Java objects as JSON, and the content of streams.

py4j decodes a text by parts between its escaped characters, and an array of bytes one by one. Both take seconds for ten
megabytes, and milliseconds here.
"""

from __future__ import annotations

import json
from typing import Any

from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    STATIC_PREFIX,
    STRING_TYPE,
    SUCCESS,
    get_command_part,
    get_return_value,
)

_TEXT = SUCCESS + STRING_TYPE


def java_json(mapper: Any, value: Any) -> Any:
    """Return what a Jackson mapper writes for a Java object, decoded."""
    text = _escaped(mapper._gateway_client, mapper._target_id, "writeValueAsString", value)
    # JSON has no line ends within strings, and Jackson writes none between them: only backslashes are escaped.
    return json.loads(text.replace("\\\\", "\\"))


def json_reader(jvm: Any, kind: str) -> Any:
    """Return a Jackson reader whose `readValue` makes a Java object of a JSON text, in one call whatever its size.

    Args:
        kind: the name of the class, or of an array as in `[Ljava.lang.String;`.
    """
    return jvm.com.fasterxml.jackson.databind.ObjectMapper().readerFor(jvm.java.lang.Class.forName(kind))


def java_bytes(io_utils: Any, stream: Any) -> bytes:
    """Return the rest of a Java stream.

    Args:
        io_utils: the class `org.apache.commons.io.IOUtils`.
    """
    client, target = io_utils._gateway_client, STATIC_PREFIX + io_utils._fqn
    # In this encoding, each byte is the character of its number.
    parts = _escaped(client, target, "toString", stream, "ISO-8859-1").split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in parts).encode("latin-1")


def _escaped(client: Any, target: str, method: str, *args: Any) -> str:
    """Call a Java method that returns a text. Return it with py4j's escapes: of backslashes and line ends."""
    command = "".join(get_command_part(arg) for arg in args)
    answer = client.send_command(f"{CALL_COMMAND_NAME}{target}\n{method}\n{command}{END_COMMAND_PART}")
    if not answer.startswith(_TEXT):
        get_return_value(answer, client, target, method)
        raise TypeError(f"{target}.{method} has returned no text: {answer[:100]}")
    return str(answer[len(_TEXT) :])
