"""Converts Java objects into JSON by their fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any


def fields_mapper(jvm: Any, wanted: Mapping[Any, Collection[str]]) -> Any:
    """Return a Jackson mapper that writes the fields of objects, and paths as text.

    It reads fields, not getters: a getter may call the file system again, or raise an exception.

    Args:
        wanted: the fields of some classes, by name; their other fields are left out. They may be many: a file on HDFS
            has three locations for each block.
    """
    jackson = jvm.com.fasterxml.jackson
    visibility = jackson.annotation.JsonAutoDetect.Visibility
    accessor = jackson.annotation.PropertyAccessor
    mapper = jackson.databind.ObjectMapper()
    mapper.setVisibility(accessor.ALL, getattr(visibility, "NONE"))  # noqa: B009
    mapper.setVisibility(accessor.FIELD, getattr(visibility, "ANY"))  # noqa: B009
    for kind, names in wanted.items():
        others = jvm.java.util.HashSet()
        for name in _fields(kind):
            if name not in names:
                others.add(name)
        ignored = jackson.annotation.JsonIgnoreProperties.Value.forIgnoredProperties(others)
        mapper.configOverride(kind).setIgnorals(ignored)
    module = jackson.databind.module.SimpleModule()
    as_text = jackson.databind.ser.std.ToStringSerializer.instance
    module.addSerializer(jvm.java.lang.Class.forName("org.apache.hadoop.fs.Path"), as_text)
    return mapper.registerModule(module)


def _fields(kind: Any) -> Iterator[str]:
    """Return the names of all fields of a class, and of the classes above it."""
    while kind is not None:
        yield from (str(field.getName()) for field in kind.getDeclaredFields())
        kind = kind.getSuperclass()
