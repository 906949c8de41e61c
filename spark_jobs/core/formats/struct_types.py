"""Spark's types in their JSON form, and the union of the columns of many files.

`adapters/spark/formats` reads the types from files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode


def without_classes(kind: Any) -> Any:
    """Return a type, in its JSON form, with each user-defined type replaced by the type of its values.

    PySpark imports the class of a user-defined type, and older ones unpickle it, when they decode the type. The text
    comes from the owner of a table: it must run nothing in the driver.
    """
    if isinstance(kind, list):
        return [without_classes(each) for each in kind]
    if not isinstance(kind, Mapping):
        return kind
    if kind.get("type") == "udt":  # guard: classes_not_loaded
        return without_classes(kind.get("sqlType", "binary"))
    return {key: value if key == "metadata" else without_classes(value) for key, value in kind.items()}


#: Spark's names of types in JSON, where Hive has others.
_HIVE_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}


def hive_type(kind: Any) -> str:
    """Return the text of a type, given in its JSON form; of a user-defined type, that of its values.

    PySpark's own parser fails at types that only another version, or only Java, knows.
    """
    kind = without_classes(kind)
    if not isinstance(kind, Mapping):
        return _HIVE_NAMES.get(kind, str(kind))
    if kind["type"] == "array":
        return f"array<{hive_type(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{hive_type(kind['keyType'])},{hive_type(kind['valueType'])}>"
    fields = (f"{field['name']}:{hive_type(field['type'])}" for field in kind["fields"])
    return f"struct<{','.join(fields)}>"


def union(texts: Iterable[str], order: Iterable[str] = ()) -> str:
    """Return one schema with the columns of all schemas, as JSON.

    Columns that differ only in case are the same column, as in Hive. If the files have different orders of columns, the
    columns get the order of the metastore, and then the order in which they first appear.

    Args:
        texts: the schemas, as JSON.
        order: the names of the metastore's columns.

    Raises:
        Refusal: SCHEMA_CONFLICT, a column has two types.
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
    positions = {field["name"].lower(): number for number, field in enumerate(fields)}
    seen = [positions[name.lower()] for name in names]
    return seen == sorted(seen)


def _merged(left: Any, right: Any, path: str = "") -> Any:
    """Return the union of two types. Structs are merged field by field, and all other types must be equal."""
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
    """Return the union of the fields. A field of only one side is nullable, because the other rows have no value."""
    left_fields = {field["name"].lower(): field for field in left}
    right_fields = {field["name"].lower(): field for field in right}
    merged = []
    for key in dict.fromkeys([*left_fields, *right_fields]):
        one, other = left_fields.get(key), right_fields.get(key)
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


def names(text: str) -> frozenset[str]:
    """Return the names of the columns of a schema in lower case."""
    return frozenset(field["name"].lower() for field in json.loads(text)["fields"])


def nullable(text: str) -> str:
    """Return the schema with all columns, elements and fields nullable, as Spark reads files."""
    return json.dumps(_nullable(json.loads(text)))


def _nullable(kind: Any) -> Any:
    if isinstance(kind, list):
        return [_nullable(item) for item in kind]
    if not isinstance(kind, dict):
        return kind
    flags = {"nullable", "containsNull", "valueContainsNull"}
    return {key: True if key in flags else _nullable(value) for key, value in kind.items()}


def _plain(kind: Any) -> Any:
    """Return the type without metadata. With the metadata of CHAR columns, Spark would pad values."""
    if isinstance(kind, list):
        return [_plain(item) for item in kind]
    if not isinstance(kind, dict):
        return kind
    return {key: {} if key == "metadata" else _plain(value) for key, value in kind.items()}
