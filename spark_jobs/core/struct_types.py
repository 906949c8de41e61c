"""Spark's types as their JSON has them: the union of many files' columns. Pure; where they come from is
`adapters/spark/formats`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

#: A `StructType`, decoded: {"type": "struct", "fields": [{"name", "type", "nullable", "metadata"}]}.
Struct = Mapping[str, Any]


def union(texts: Iterable[str], order: Iterable[str] = ()) -> str:
    """One schema that holds the columns of all of them, as JSON; columns that differ in case only are one to Hive.

    Where the files disagree about the order of their columns it is `order`, the metastore's, and then that of their
    first appearance. Raises Refusal SCHEMA_CONFLICT for two types of one column.
    """
    structs = [json.loads(text) for text in texts]
    merged = structs[0]
    for struct in structs[1:]:  # guard: schema_of_all_files
        merged = _merged(merged, struct)
    fields = merged["fields"]
    if not all(_in_order([f["name"] for f in s["fields"]], fields) for s in structs):
        rank = {name.lower(): number for number, name in enumerate(order)}
        fields = sorted(fields, key=lambda field: rank.get(field["name"].lower(), len(rank)))
    return json.dumps(_plain({**merged, "fields": fields}))


def _in_order(names: list[str], fields: list[Mapping[str, Any]]) -> bool:
    places = {field["name"].lower(): number for number, field in enumerate(fields)}
    seen = [places[name.lower()] for name in names]
    return seen == sorted(seen)


def _merged(left: Any, right: Any, path: str = "") -> Any:
    """The union of two types; structs are united field by field, everything else must be the same."""
    kinds = {_kind(left), _kind(right)}
    if kinds == {"struct"}:
        return {**left, "fields": _merged_fields(left["fields"], right["fields"], path)}
    if kinds == {"array"}:
        return {
            **left,
            "containsNull": left["containsNull"] or right["containsNull"],
            "elementType": _merged(left["elementType"], right["elementType"], f"{path}[]"),
        }
    if kinds == {"map"}:
        return {
            **left,
            "valueContainsNull": left["valueContainsNull"] or right["valueContainsNull"],
            "keyType": _merged(left["keyType"], right["keyType"], f"{path}.key"),
            "valueType": _merged(left["valueType"], right["valueType"], f"{path}.value"),
        }
    if left != right:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"column '{path}' is {_text(left)} in one file and {_text(right)} in another",
        )
    return left


def _merged_fields(left: list[Any], right: list[Any], path: str) -> list[Any]:
    """A field that one side lacks has no value in its rows."""
    ours = {field["name"].lower(): field for field in left}
    theirs = {field["name"].lower(): field for field in right}
    merged = []
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key), theirs.get(key)
        if one is None or other is None:
            merged.append({**(one or other or {}), "nullable": True})
            continue
        kind = _merged(one["type"], other["type"], f"{path}.{key}".lstrip("."))
        merged.append({**one, "type": kind, "nullable": one["nullable"] or other["nullable"]})
    return merged


def _kind(kind: Any) -> str:
    return str(kind["type"]) if isinstance(kind, dict) else str(kind)


def _text(kind: Any) -> str:
    return kind if isinstance(kind, str) else json.dumps(kind)


def nullable(text: str) -> str:
    """The same columns, each of whose values, elements and fields may be missing: so Spark reads files."""
    return json.dumps(_nullable(json.loads(text)))


def _nullable(kind: Any) -> Any:
    if isinstance(kind, list):
        return [_nullable(item) for item in kind]
    if not isinstance(kind, dict):
        return kind
    flags = {"nullable", "containsNull", "valueContainsNull"}
    return {key: True if key in flags else _nullable(value) for key, value in kind.items()}


def _plain(kind: Any) -> Any:
    """Without metadata: what Spark notes there of CHAR columns would make it pad values."""
    if isinstance(kind, list):
        return [_plain(item) for item in kind]
    if not isinstance(kind, dict):
        return kind
    return {key: {} if key == "metadata" else _plain(value) for key, value in kind.items()}
