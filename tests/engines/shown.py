"""What engines have read, as a page: `python -m tests.engines.shown` writes docs/safety/read-by-engines.md.

It is made of what runs of all tests of this folder have left (`make test-all`, or pytest on this folder); the engines
may be asked one after the other (`-k`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from demo.services import paths

if TYPE_CHECKING:
    from tests.engines.play import Played

LEFT = paths.SCRATCH / "engines" / "read.json"
PAGE = paths.ROOT / "docs/safety/read-by-engines.md"
_HEAD = """\
# Read by other engines

Tables that were read by other engines before a compaction, after it, after its rollback, after a compaction by
[Arrow](../arrow-engine.md) if their files are Parquet, and after a compaction in part: by `SELECT *`, and by one
condition for each column of a primitive type. By a condition, an engine skips what the statistics, indexes and Bloom
filters of the files exclude. `make test-all` does this (`tests/engines`), and `python -m tests.engines.shown` writes
this page from what it has left.

- **same**: each answer had the same rows in each phase.
- A code: the table is refused, and no file of it was changed.
- **same, but for errors**: some questions failed in each phase, also before the compaction.
- **not read**: the engine failed on the whole table before the compaction.
- **different**: the table is declared as read by name (`lakekeeper.readers`), and the engine reads its files by
  position.

Impala, and Trino newer than 368 with a file system for Hive's tables, could not be had.

"""


class NotComplete(Exception):
    """The last run has not read all tables; the message says what to do."""


def leave(played: Played, pairs: Iterable[tuple[str, str]]) -> None:
    """Write what was found for the page, in the place of what an earlier run has found of the same.

    Args:
        pairs: which engine was asked about which table.
    """
    new = [row for engine, table in pairs for row in _rows(played, engine, table)]
    known = json.loads(LEFT.read_text()) if LEFT.exists() else []
    rows = list({(row["engine"], row["table"]): row for row in [*known, *new]}.values())
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    LEFT.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def _rows(played: Played, engine: str, name: str) -> Iterable[dict[str, Any]]:
    from tests.engines.play import BEFORE, COMPACTED, TABLES

    table = TABLES[name]
    for reader in played.readers(engine, name):
        answers = played.answers[BEFORE][reader, name]
        yield {
            "engine": reader,
            "table": name,
            "writer": table.writer,
            "format": table.stored,
            "what": table.shown,
            "fate": played.fate(name, COMPACTED),
            "phases": played.phases(name),
            "questions": len(answers),
            "rows": sum(answer.size for answer in answers.values()),
            "failed": sorted(played.failures(reader, name)),
            "different": played.differences(reader, name),
        }


def page(rows: Sequence[dict[str, Any]]) -> str:
    """Return the page: a line for each table, and a column for each engine."""
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    tables = {row["table"]: row for row in rows}
    by_pair = {(row["engine"], row["table"]): row for row in rows}
    header = ["writer", "format", "what", *engines]
    lines = [header, ["---"] * len(header)]
    for name, row in sorted(tables.items(), key=lambda each: (each[1]["writer"], each[1]["format"], each[0])):
        results = [_result(by_pair.get((engine, name))) for engine in engines]
        lines.append([row["writer"], row["format"], row["what"], *results])
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{_HEAD}{_sums(engines, rows)}\n\n{text}\n"


def _result(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["different"]:
        return "**different**"
    if "*" in row["failed"]:
        return "not read"
    same = "same, but for errors" if row["failed"] else "same"
    return same if row["fate"] == "compacted" else f"{same} (`{row['fate']}`)"


def _sums(engines: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    lines = []
    for engine in engines:
        own = [row for row in rows if row["engine"] == engine]
        questions, read = (sum(row[key] for row in own) for key in ("questions", "rows"))
        different = sum(bool(row["different"]) for row in own)
        asked = f"{questions:,} queries and {read:,} rows in each phase"
        lines.append(f"- {engine}: {len(own)} tables, {asked}, {different} different")
    return "\n".join(lines)


def complete(rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return the rows. Raises NotComplete where they are not of a whole run."""
    from tests.engines.play import IN_PART, TABLES

    missing = sorted(set(TABLES) - {row["table"] for row in rows})
    if missing or not all(IN_PART in row["phases"] for row in rows):
        raise NotComplete(
            f"what was run has left out {', '.join(missing) or 'a phase'}; run all tests of tests/engines"
        )
    return rows


def main() -> None:
    """Write the page."""
    if not LEFT.exists():
        raise NotComplete(f"there is no {LEFT}; run all tests of tests/engines")
    PAGE.write_text(page(complete(json.loads(LEFT.read_text()))))


if __name__ == "__main__":
    try:
        main()
    except NotComplete as error:
        sys.exit(f"error: {error}")
