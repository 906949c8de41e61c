"""Avro files by one release of Apache Avro for Java: `python -m tests.fidelity.foreign.avro_java JARS FOLDER`."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError

from tests.fidelity.avro_container import number, text
from tests.fidelity.foreign.avro_units import UNITS, File
from tests.fidelity.foreign.java import process

_PLAIN: dict[str, Callable[[Any], bytes]] = {
    "null": lambda _: b"",
    "boolean": lambda value: bytes([value]),
    "int": number,
    "long": number,
    "float": lambda value: struct.pack("<f", value),
    "double": lambda value: struct.pack("<d", value),
    "bytes": text,
    "string": lambda value: text(value.encode()),
    "fixed": bytes,
}


def encoded(schema: Any, value: Any, named: dict[str, Any]) -> bytes:
    """The bytes of a value, for the library to make its own object of.

    Args:
        named: the schemas that have been defined, by name.
    """
    if isinstance(schema, list):
        return _branch(schema, value, named)
    if isinstance(schema, str):
        return _PLAIN[schema](value) if schema in _PLAIN else encoded(named[schema], value, named)
    if "name" in schema:
        named[schema["name"]] = schema
    kind = schema["type"]
    if kind == "record":
        return b"".join(encoded(each["type"], value[each["name"]], named) for each in schema["fields"])
    if kind == "enum":
        return number(schema["symbols"].index(value))
    if kind == "array":
        return _items([encoded(schema["items"], item, named) for item in value])
    if kind == "map":
        entries = value.items()
        return _items([text(key.encode()) + encoded(schema["values"], item, named) for key, item in entries])
    return _PLAIN[kind](value)


def _items(items: list[bytes]) -> bytes:
    return (number(len(items)) + b"".join(items) if items else b"") + number(0)


def _branch(union: list[Any], value: Any, named: dict[str, Any]) -> bytes:
    names = [each if isinstance(each, str) else each["type"] for each in union]
    if value is None:
        return number(names.index("null"))
    name, inner = (
        value if isinstance(value, tuple) else (next(name for name in names if name != "null"), value)
    )
    place = names.index(name)
    return number(place) + encoded(union[place], inner, named)


def write(jvm: Any, path: Path, file: File) -> None:
    """Write a file. Raises Py4JJavaError if the library lacks the codec, or rejects the schema or the metadata."""
    avro = jvm.org.apache.avro
    schema = avro.Schema.Parser().parse(json.dumps(file.schema))
    writer = avro.file.DataFileWriter(avro.generic.GenericDatumWriter(schema))
    if file.codec:
        writer.setCodec(avro.file.CodecFactory.fromString(file.codec))
    for key, value in file.metadata.items():
        writer.setMeta(key, value)
    reader = avro.generic.GenericDatumReader(schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer.create(schema, jvm.java.io.File(str(path)))
    for place, record in enumerate(file.records(), 1):
        data = bytearray(encoded(file.schema, record, {}))
        writer.append(reader.read(None, avro.io.DecoderFactory.get().binaryDecoder(data, None)))
        if not place % file.block:
            writer.sync()
    writer.close()


def main(jars: str, folder: str) -> None:
    """Write the files of each unit that the library allows into a directory of its own."""
    with process(Path(jars)) as jvm:
        for unit, files in UNITS.items():
            for place, file in enumerate(files):
                try:
                    write(jvm, Path(folder) / unit.replace(" ", "_") / f"{place}.avro", file)
                except Py4JJavaError as error:
                    if not error.java_exception.getClass().getName().startswith("org.apache.avro."):
                        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
