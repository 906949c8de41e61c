"""A user-defined type in the schema of a table: its class is neither imported nor unpickled."""

from __future__ import annotations

import base64
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.adapters.hadoop.spark_descriptions import _hive_type
from spark_jobs.core.formats.struct_types import without_classes


class Executed:
    """What runs when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self._marker,)


@pytest.mark.parametrize("nested", [False, True])
def test_a_pickled_class_is_not_loaded(tmp_path: Path, nested: bool) -> None:
    marker = tmp_path / "executed"
    pickled = base64.b64encode(pickle.dumps(Executed(marker))).decode()
    kind: Any = {"type": "udt", "pyClass": "no_module.Point", "serializedClass": pickled, "sqlType": "long"}
    if nested:
        kind = {"type": "array", "elementType": kind, "containsNull": True}
    found = _hive_type({"name": "a", "type": kind, "nullable": True, "metadata": {}})
    assert found == ("array<bigint>" if nested else "bigint")
    assert not marker.exists()


def test_a_module_is_not_imported() -> None:
    name = "this"  # a module of Python that prints when it is imported
    sys.modules.pop(name, None)
    kind = {"type": "udt", "pyClass": f"{name}.Point", "sqlType": "string"}
    assert _hive_type({"name": "a", "type": kind, "nullable": True, "metadata": {}}) == "string"
    assert name not in sys.modules


@pytest.mark.parametrize(
    "kind",
    [
        "long",
        "decimal(9,2)",
        {"type": "array", "elementType": "string", "containsNull": True},
        {"type": "map", "keyType": "string", "valueType": "date", "valueContainsNull": False},
        {
            "type": "struct",
            "fields": [{"name": "udt", "type": "long", "nullable": True, "metadata": {"a": 1}}],
        },
    ],
)
def test_other_types_stay(kind: Any) -> None:
    assert without_classes(json.loads(json.dumps(kind))) == kind


def test_a_type_whose_values_are_not_told_has_no_class_either() -> None:
    assert without_classes({"type": "udt", "class": "org.example.Point"}) == "binary"
