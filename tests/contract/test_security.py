"""The page that says who may do what: each thing that somebody could try is stopped by what a test shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "safety" / "security.md").read_text()
TRIED = PAGE.partition("## What each could try")[2].partition("\n## ")[0]
ROWS = [line for line in TRIED.splitlines() if line.startswith("| ") and not line.startswith("| who")]
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))


def _tests_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name):
    path, *parts = name.split("::")
    tests = _tests_in(ROOT / path)
    assert tests
    assert not parts or parts[-1] in tests


@pytest.mark.parametrize("row", ROWS)
def test_each_row_names_what_stops_it_and_the_test_that_shows_it(row):
    who, tries, stopped, shown = (cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|")))
    assert all((who, tries, stopped))
    assert re.fullmatch(r"`tests/[^`]+`(, `tests/[^`]+`)*", shown)


def test_everybody_who_is_not_trusted_is_in_a_row():
    rows = [row.strip("| ").split(" |")[0] for row in ROWS]
    for who in ("writer", "owner", "another team's Airflow", "a reader of logs"):
        assert who in rows


def test_the_page_at_the_root_leads_there_and_names_no_person():
    page = (ROOT / "SECURITY.md").read_text()
    assert "docs/safety/security.md" in page
    assert "private security advisory" in page
    assert "@" not in page
