"""Configuration files for tests of the command line."""

from __future__ import annotations

from pathlib import Path


def config_file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "lakekeeper.yaml"
    path.write_text(text)
    return str(path)
