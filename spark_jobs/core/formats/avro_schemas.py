"""The attributes of an Avro schema that Avro's library does not keep when it reads and writes the schema.

Source: `Schema.java` of Avro. It keeps the attributes that the specification defines for a type, and all whose names it
does not reserve. A `doc`, or a name, of a type that has none by the specification (`{"type": "string", "doc": ...}`) is
lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

#: A schema that is written again has these in another form, or leaves them out where they are the default.
_IMPLIED = ("type", "namespace")
_ASCENDING = ("order", "ascending")


def dropped(text: str, kept: str) -> list[str]:
    """Return the attributes of a schema that another text of the same schema lacks, by their paths."""
    try:
        return list(_of_schema(json.loads(text), json.loads(kept), "avro.schema"))
    except ValueError:  # Avro's parser takes comments, and this one does not.
        return []


def _of_schema(text: Any, kept: Any, path: str) -> Iterator[str]:
    if isinstance(text, list) and isinstance(kept, list):
        for number, (one, other) in enumerate(zip(text, kept)):
            yield from _of_schema(one, other, f"{path}[{number}]")
    if isinstance(text, dict):
        yield from _of_type(text, kept if isinstance(kept, dict) else {"type": kept}, path)


def _of_type(text: Mapping[str, Any], kept: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _lacking(text, kept, path)
    if isinstance(
        text.get("type"), (dict, list)
    ):  # a type within a type, whose attributes are those of the inner one
        yield from _of_schema(text["type"], kept, path)
    for key in ("items", "values"):
        yield from _of_schema(text.get(key), kept.get(key), f"{path}.{key}")
    for one, other in zip(text.get("fields") or (), kept.get("fields") or ()):
        field = f"{path}.{one.get('name')}"
        yield from _lacking(one, other, field)
        yield from _of_schema(one.get("type"), other.get("type"), field)


def _lacking(text: Mapping[str, Any], kept: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in text.items():
        empty = value is None or value == [] or (key, value) == _ASCENDING
        if key not in kept and key not in _IMPLIED and not empty:
            yield f"{path}.{key}"
