"""`lakekeeper explain`: what a code means, without a network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakekeeper_provider.shell import cli
from tests.unit.provider.doctor_runs import command

CODES = (Path(cli.__file__).parents[2] / "docs/codes.md").read_text()


def test_a_code_is_explained_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "bucketed"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "BUCKETED (A table or partition is left alone)"
    firsts = [line.split(":")[0].strip() for line in lines if not line.startswith("    ")]
    assert firsts == ["cause", "remedy"]
    assert not any("](" in line or "`" in line for line in lines)


def test_an_outcome_is_explained_for_a_unit_a_table_and_a_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "failed"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("failed (Outcomes and exit codes)") == 3
    assert "exit code: 1" in shown


def test_every_row_of_the_page_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain"]) == 0
    listed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    body = CODES[CODES.index("## Outcomes") :]
    assert listed == re.findall(r"^\| `([\w-]+)` \|", body, re.MULTILINE)
    assert len(listed) > 100


def test_an_unknown_code_names_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "BUKETED"]) == 2
    assert "there is no code 'BUKETED' (did you mean 'BUCKETED'?)" in capsys.readouterr().err


def test_a_reader_that_is_gone_is_no_error() -> None:
    """As `lakekeeper explain | head -1`. Before: a traceback."""
    process = command("explain")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
