"""The types of an ORC file: what the text form of its schema says, in the grammar of `TypeDescription.toString`."""

from __future__ import annotations


def parse_struct(text: str) -> dict[str, str]:
    """The top-level fields of an ORC `struct<a:int,b:array<...>>`, by lower-cased name."""
    found, depth, start, quoted = {}, 0, len("struct<"), False
    for index in range(start, len(text)):
        char = text[index]
        quoted ^= char == "`"
        if quoted:
            continue
        if (char == "," and depth == 0) or index == len(text) - 1:
            name, _, kind = (
                text[start:index].rpartition(":")
                if ":" not in text[start:index]
                else _split(text[start:index])
            )
            found[name.strip("`").lower()] = kind
            start = index + 1
        depth += (char in "<(") - (char in ">)")
    return {name: kind for name, kind in found.items() if name}


def _split(field: str) -> tuple[str, str, str]:
    end = field.index("`", 1) + 1 if field.startswith("`") else field.index(":")
    return field[:end], ":", field[end + 1 :]
