"""The YAML template and the JSON Schema of `lakekeeper generate-config`, rendered from the provider's option tables.

What is imported here needs no package, so that `make docs` runs anywhere.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from lakekeeper_provider.options.definitions import OPTIONS
from lakekeeper_provider.options.option import Option
from lakekeeper_provider.options.parsers import text_list
from lakekeeper_provider.options.spark_submit import KEYS
from lakekeeper_provider.options.window import DAYS
from spark_jobs.core.options.option import Section

WIDTH = 120
_HEAD = """\
# lakekeeper.yaml: configuration of Lakekeeper, for the Airflow operators and for the command line.
# Written by: lakekeeper generate-config
#
#   lakekeeper --config-file lakekeeper.yaml compact --database mydb
#   CompactOperator(task_id="compact", table="mydb.events", config_file="/etc/lakekeeper/lakekeeper.yaml")
#
# Priority, highest first: an operator's argument or a command line flag, the section "tables" below, the table
# property lakekeeper.<option>, the options below, the Airflow connection, the default. An unknown key is an error.
#
# An editor completes and checks this file with its JSON Schema: write it beside this file with
#   lakekeeper generate-config --schema --output lakekeeper.schema.json
# and begin this file with the line
#   # yaml-language-server: $schema=lakekeeper.schema.json
"""
_SELECTION = """\
# What the command line works on if it names no tables: one of these three. Operators name their tables, and a rollback
# and forget those of the command line.
# database: mydb
# table: mydb.events
# tables: [mydb.events, mydb.logs]
"""
_TABLES = """\
# tables:
#   mydb.logs:
#     block_size_mb: 64
#     sort_columns: [year, month, day]
"""
_HIVE_SERVER_HELP = "host and port of HiveServer2 in the URIs of asset events"
_HIVE_SERVER = """\
# Host and port of HiveServer2 in the URIs of asset events, hive://HOST:PORT/DB/TABLE?lakekeeper=compact
# hive_server: hs2.example.com:10000
"""
_WINDOWS = """\
# A day is the one on which the window opens; a window whose end is not after its start ends on the next day.
# windows:
#   nightly:
#     start: "22:00"
#     end: "05:00"
#     timezone: Europe/Paris
#     days: [mon, tue, wed, thu, fri]
"""


def template() -> str:
    """Return the file; everything in it is commented out, or at its default."""
    parts = [_HEAD, _rule("Which tables"), _SELECTION]
    for section in (each.value for each in Section):
        parts += [_rule(section), *(_option(each) for each in OPTIONS.values() if each.section == section)]
    parts += [_rule("Options of single tables"), _TABLES]
    parts += [_rule("Asset events"), _HIVE_SERVER]
    parts += [_rule('Maintenance windows, for window="nightly" in an operator'), _WINDOWS]
    parts += [_rule("spark-submit"), _spark_submit()]
    return "\n".join(parts)


def _rule(title: str) -> str:
    return f"# --- {title} ".ljust(WIDTH - 5, "-") + "\n"


def _option(option: Option) -> str:
    about = f"{option.help[0].upper()}{option.help[1:]}. {option.note}".rstrip()
    value = option.default if option.example is None else option.example
    return _comment(about + _values(option)) + _entry(option.key, value)


def _values(option: Option) -> str:
    """Return the values that are allowed, where they are few and the help does not show them."""
    few = option.parse.schema.get("enum", [])
    if not few and option.parse.bounds:
        return f" Values: {option.parse.bounds}."
    return "" if not few or f"({few[0]})" in option.help else f" Values: {', '.join(few)}."


def _comment(text: str, indent: str = "") -> str:
    mark = f"{indent}# "
    lines = textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def _entry(key: str, value: Any, indent: str = "# ") -> str:
    if isinstance(value, Mapping):
        return f"{indent}{key}:\n" + "".join(
            _entry(name, each, f"{indent}  ") for name, each in value.items()
        )
    return f"{indent}{key}: {_scalar(value)}\n"


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spark_submit() -> str:
    lines = ["spark_submit:\n"]
    for name, key in KEYS.items():
        if key.help:
            lines += ["\n", _comment(key.help, "  ")]
        lines.append(_entry(name, key.example, "  " if name == "enabled" else "  # "))
    return "".join(lines).replace("spark_submit:\n\n", "spark_submit:\n")


def schema() -> str:
    """Return the JSON Schema of the file, draft 2020-12."""
    in_file = {key: option for key, option in OPTIONS.items() if option.section}
    per_table = {key: _described(option) for key, option in in_file.items() if option.per_table}
    columns = {"type": "object", "additionalProperties": text_list.schema}
    properties = {
        **{key: _described(option) for key, option in in_file.items()},
        "sort_columns": {**columns, "description": f"by table: {OPTIONS['sort_columns'].help}"},
        "table": {"type": ["string", "null"], "description": "the table that the command line works on"},
        "database": {
            "type": ["string", "null"],
            "description": "the database that the command line works on",
        },
        "tables": {
            "description": "options of single tables, by db.table; or a list of the tables of the command line",
            "anyOf": [_by_name("options, by db.table", _object(per_table)), text_list.schema],
        },
        "hive_server": {"type": ["string", "null"], "description": _HIVE_SERVER_HELP},
        "windows": _by_name("maintenance windows by name", _window()),
        "spark_submit": _object(
            {name: {**key.parse.schema, "description": key.help} for name, key in KEYS.items()}
        ),
    }
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Configuration of Lakekeeper"}
    return json.dumps({**head, **_object(properties)}, indent=1) + "\n"


def _described(option: Option) -> dict[str, Any]:
    default = {} if option.default is None else {"default": option.default}
    bounds = f" ({option.parse.bounds})" if option.parse.bounds else ""
    return {**option.parse.schema, **default, "description": option.help + bounds}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": ["object", "null"], "additionalProperties": False, "properties": dict(properties)}


def _by_name(description: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": ["object", "null"], "additionalProperties": dict(values), "description": description}


def _window() -> dict[str, Any]:
    clock = {"type": ["string", "integer"], "description": "HH:MM"}
    days = {"type": "array", "items": {"enum": list(DAYS)}, "minItems": 1}
    fields = {"start": clock, "end": clock, "timezone": {"type": "string"}, "days": days}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": fields,
        "required": ["start", "end"],
    }


def readme_rows(level: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, default and meaning of the options of a level that the file may set."""
    for option in OPTIONS.values():
        if option.section and option.level == level:
            default = "-" if option.default is None else f"`{_scalar(option.default)}`"
            yield (
                f"`{option.key}`",
                default,
                option.help + _values(option).replace(" Values", "; values").rstrip("."),
            )


def other_rows() -> Iterator[tuple[str, str, str]]:
    """Yield key, default and meaning of the keys of the file that are no options."""
    whole = [f"`{option.key}`" for option in OPTIONS.values() if option.section and not option.per_table]
    yield "`tables`", "-", f"any of these for one table, but {', '.join(whole)}"
    yield "`hive_server`", "`default`", _HIVE_SERVER_HELP
    yield "`windows`", "-", "maintenance windows by name"
    yield "`spark_submit`", "-", f"`{', '.join(KEYS)}`"
