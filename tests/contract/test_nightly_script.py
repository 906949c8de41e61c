"""The script for cron in docs/guides/edge-node.md, run by bash with programs that only note how they were called."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lakekeeper_provider.shell.parsers import build_parser
from tests.contract.doc_blocks import blocks

(SCRIPT,) = [
    block.text for block in blocks("sh") if block.page == "docs/guides/edge-node.md" and block.left_out
]
KINIT = "kinit -kt /etc/security/keytabs/etl.keytab etl@EXAMPLE.COM"


def _night(folder: Path, codes: list[int], end: str = "tomorrow 05:00") -> tuple[int, list[list[str]]]:
    """Run the script; the programs end with these codes, one call after the other. Return its code and the calls."""
    noted, left = folder / "noted", folder / "codes"
    left.write_text("".join(f"{code}\n" for code in codes))
    for name in ("kinit", "lakekeeper", "sleep"):
        program = folder / name
        end_of_it = f'code=$(head -1 "{left}"); sed -i 1d "{left}"; exit "$code"' if name != "sleep" else ""
        program.write_text(f'#!/bin/bash\necho "{name} $*" >> "{noted}"\n{end_of_it}\n')
        program.chmod(0o755)
    text = re.sub(r"^export PATH=.*", f"export PATH={folder}:/usr/bin:/bin", SCRIPT, flags=re.MULTILINE)
    assert "'tomorrow 05:00'" in text
    text = text.replace("tomorrow 05:00", end)
    environ = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(["bash", "-c", text], env=environ, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, [line.split() for line in noted.read_text().splitlines()]


def _calls(noted: list[list[str]]) -> list[list[str]]:
    return [words[1:] for words in noted if words[0] == "lakekeeper"]


@pytest.mark.parametrize("code", [0, 2, 3])
def test_what_a_second_call_does_not_change_is_called_once(tmp_path: Path, code: int) -> None:
    ended, noted = _night(tmp_path, [0, code])
    assert (ended, len(_calls(noted))) == (code, 1)
    assert [" ".join(words) for words in noted[:2]] == ["sleep 0", KINIT]


@pytest.mark.parametrize("code", [1, 127, 137, 143])
def test_a_night_that_failed_is_called_again_as_the_same_run(tmp_path: Path, code: int) -> None:
    ended, noted = _night(tmp_path, [0, code, 0, 0])
    first, second = (build_parser().parse_args(words) for words in _calls(noted))
    assert ended == 0
    assert first.run_id == second.run_id == f"nightly-{datetime.now():%Y%m%d}"
    assert noted[3] == ["sleep", "300"]


def test_the_code_of_the_last_call_is_that_of_the_script(tmp_path: Path) -> None:
    ended, noted = _night(tmp_path, [0, 1, 0, 137, 0, 1, 0, 143])
    assert (ended, len(_calls(noted))) == (143, 4)


def test_without_a_ticket_nothing_is_called_and_it_is_tried_again(tmp_path: Path) -> None:
    ended, noted = _night(tmp_path, [1, 0, 0])
    assert (ended, len(_calls(noted))) == (0, 1)


def test_the_deadline_is_the_end_of_the_night(tmp_path: Path) -> None:
    _, noted = _night(tmp_path, [0, 0])
    (words,) = _calls(noted)
    deadline = datetime.fromisoformat(build_parser().parse_args(words).deadline)
    tomorrow = datetime.now() + timedelta(days=1)
    assert deadline == tomorrow.replace(hour=5, minute=0, second=0, microsecond=0).astimezone()


def test_after_the_end_of_the_night_the_deadline_stays_what_it_was(tmp_path: Path) -> None:
    """It has passed: the retry ends what was begun, and begins nothing."""
    _, noted = _night(tmp_path, [0, 137, 0, 0], end="1 hour ago")
    first, second = (build_parser().parse_args(words).deadline for words in _calls(noted))
    assert first == second
    assert datetime.fromisoformat(first) < datetime.now().astimezone()
