"""Which attributes of an Avro schema Avro's own text of it lacks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark_jobs.core.formats.avro_schemas import dropped


def _record(kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "r", "fields": [{"name": "v", "type": kind, **more}]}


#: By name: a schema, the one that Avro writes of it, and what that lacks.
SCHEMAS: dict[str, tuple[Any, Any, list[str]]] = {
    "the same": (_record("long", doc="d", x=1), _record("long", doc="d", x=1), []),
    "a primitive type as an object": (_record({"type": "long"}), _record("long"), []),
    "the documentation of a primitive type": (
        _record({"type": "string", "doc": "d"}),
        _record("string"),
        ["avro.schema.v.doc"],
    ),
    "the name of an array": (
        _record({"type": "array", "items": {"type": "string", "size": 5}, "name": "a"}),
        _record({"type": "array", "items": "string"}),
        ["avro.schema.v.name", "avro.schema.v.items.size"],
    ),
    "in a union": (
        _record(["null", {"type": "map", "values": "long", "doc": "d"}]),
        _record(["null", {"type": "map", "values": "long"}]),
        ["avro.schema.v[1].doc"],
    ),
    "defaults and other forms": (
        {**_record("long", order="ascending", aliases=[], doc=None), "namespace": "n"},
        {**_record("long"), "name": "n.r"},
        [],
    ),
    "a type within a type": (
        _record({"type": {"type": "long", "doc": "inner"}, "doc": "outer"}),
        _record("long"),
        ["avro.schema.v.doc", "avro.schema.v.doc"],
    ),
}


@pytest.mark.parametrize("case", SCHEMAS)
def test_what_a_schema_lacks_is_named_by_its_path(case: str) -> None:
    text, kept, expected = SCHEMAS[case]
    assert dropped(json.dumps(text), json.dumps(kept)) == expected


def test_a_text_that_is_no_strict_json_lacks_nothing() -> None:
    assert dropped('{"type": "long"} // a comment', '"long"') == []
