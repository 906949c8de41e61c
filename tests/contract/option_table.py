"""The table of options for the provider, which shares no code with the jobs: a file of the package.

python -m tests.contract.option_table          # writes it (make docs, before the pages that are made of it)
"""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.option import Layer, Level, Option

ROOT = Path(__file__).parents[2]
PATH = ROOT / "lakekeeper_provider" / "options" / "options.json"
_UNITS = (("h", 3600), ("m", 60), ("s", 1))


def option_table() -> str:
    """Return the content of the file. Options that only a table's property sets are none of the provider's."""
    found = {name: option for name, option in OPTIONS.items() if option.layers != (Layer.PROPERTY,)}
    head = {"levels": [level.value for level in Level]}
    rows = ",\n".join(json.dumps(_row(name, option)) for name, option in found.items())
    return f'{json.dumps(head)[:-1]}, "options": [\n{rows}\n]}}\n'


def _row(name: str, option: Option) -> dict[str, Any]:
    return {
        "key": name,
        "help": option.help,
        "kind": option.parse.kind,
        "default": _default(getattr(DEFAULTS, name), option),
        "flag": option.flag,
        "off": option.off_flag,
        "verbs": option.verbs if option.flag else [],
        "metavar": option.metavar,
        "layers": [layer.value for layer in Layer if layer in option.layers],
        "level": option.level.value,
        "section": option.section.value if option.section else None,
        "note": option.note,
        "example": option.example,
        "limits_deletion": option.limits_deletion,
    }


def _default(value: Any, option: Option) -> Any:
    """Return a default as a value of JSON; None if the jobs have a rule instead."""
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        return next(
            f"{seconds // size}{unit}" for unit, size in _UNITS if seconds > size and not seconds % size
        )
    rule = option.limits_deletion or option.parse.kind[0] in ("size", "list", "words", "globs")
    return None if rule and not value else value


def main() -> None:
    PATH.write_text(option_table())
    print(f"wrote {PATH.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
