"""What the command line writes: the configuration file, its schema, and the files for spark-submit by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.options import config
from lakekeeper_provider.shell import cli, generate

ROOT = Path(cli.__file__).resolve().parents[2]


def test_generated_config_is_valid_and_all_at_defaults(tmp_path):
    path = tmp_path / "lakekeeper.yaml"
    assert cli.main(["generate-config", "--output", str(path)]) == 0
    assert cli.request_of(config.load(path)) is None


def test_generate_config_does_not_overwrite_unless_forced(tmp_path, capsys):
    path = tmp_path / "lakekeeper.yaml"
    path.write_text("mine")
    assert cli.main(["generate-config", "--output", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert cli.main(["generate-config", "--output", str(path), "--force"]) == 0
    assert path.read_text() == generate.TEMPLATE.read_text()


@pytest.mark.parametrize(
    ("argv", "name"), [([], "lakekeeper.yaml"), (["--schema"], "lakekeeper.schema.json")]
)
def test_generate_config_writes_into_this_directory(tmp_path, monkeypatch, capsys, argv, name):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["generate-config", *argv]) == 0
    assert capsys.readouterr().out == f"wrote {name}\n"
    assert cli.main(["generate-config", *argv]) == 2
    assert f"{name} exists; --force overwrites it" in capsys.readouterr().err
    assert cli.main(["generate-config", *argv, "-f"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_bundle_of_the_jobs_is_written_and_named(tmp_path, capsys):
    assert cli.main(["generate-bundle", "--output", str(tmp_path)]) == 0
    (written,) = tmp_path.glob("lakekeeper-jobs-*.zip")
    script = tmp_path / "run_lakekeeper.py"
    assert set(tmp_path.iterdir()) == {written, script}
    assert capsys.readouterr().out.splitlines() == [str(written), str(script)]
    program = (
        f"import sys; sys.path.insert(0, {str(written)!r}); from spark_jobs import api; print(api.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.strip().startswith(str(written)), done.stderr
    assert cli.main(["generate-bundle", "--output", str(tmp_path / "missing")]) == 2
    assert "cannot write the bundle" in capsys.readouterr().err


def test_the_schema_is_written_on_request(tmp_path):
    path = tmp_path / "lakekeeper.schema.json"
    assert cli.main(["generate-config", "--schema", "--output", str(path)]) == 0
    assert json.loads(path.read_text())["properties"]["verify"]["enum"] == ["count", "hash"]


def test_the_example_in_the_docs_is_what_generate_config_writes(capsys):
    assert cli.main(["generate-config", "-o", "-"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "lakekeeper.example.yaml").read_text()
