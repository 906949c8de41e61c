"""The page that compares other designs: each row is shown by a test that exists, or says why it was not taken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "other-designs.md").read_text()
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| Paimon", "| Iceberg", "| Lakekeeper 0.0.6"))
]
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))


def _names(path: Path) -> set[str]:
    """Return the names of the tests in a file, also of those in classes."""
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name):
    path, *parts = name.split("::")
    assert (ROOT / path).is_file()
    assert not parts or parts[-1] in _names(ROOT / path)


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_test_or_a_reason(row):
    shown = row.strip("|").rsplit("|", 1)[-1].strip()
    assert shown.startswith("not taken, because ") or re.fullmatch(r"`tests/[^`]+`(, `tests/[^`]+`)*", shown)


def test_every_option_of_both_designs_has_a_row():
    theirs = " ".join(row.split("|")[1] for row in ROWS)
    for option in (
        *("with_strategy", "with_partitions", "with_where", "with_partition_idle_time", "with_options"),
        *(
            "num-sorted-run.compaction-trigger",
            "compaction.min.file-num",
            "compaction.delete-ratio-threshold",
        ),
        *(
            "compaction.total-size-threshold",
            "write-only",
            "sink.parallelism",
            "target-file-size",
            "FILES_BATCH",
        ),
        *("max-concurrent-file-group-rewrites", "partial-progress.enabled", "partial-progress.max-commits"),
        *("partial-progress.max-failed-commits", "use-starting-sequence-number", "rewrite-job-order"),
        *("target-file-size-bytes", "min-file-size-bytes", "max-file-size-bytes", "min-input-files"),
        *("rewrite-all", "max-file-group-size-bytes", "delete-file-threshold", "delete-ratio-threshold"),
        *("output-spec-id", "remove-dangling-deletes", "max-files-to-rewrite", "compression-factor"),
        *("shuffle-partitions-per-file", "var-length-contribution", "max-output-size"),
    ):
        assert f"`{option}" in theirs, option
