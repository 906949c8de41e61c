"""What the command line writes: the configuration file, its schema, and the files for spark-submit by hand."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.options import config
from lakekeeper_provider.shell import cli, generate, spark_command

ROOT = Path(cli.__file__).resolve().parents[2]


def test_generated_config_is_valid_and_all_at_defaults(tmp_path):
    path = tmp_path / "lakekeeper.yaml"
    assert cli.main(["generate-config", "--output", str(path)]) == 0
    assert spark_command.request_of(config.load(path)) is None


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


def test_the_example_dags_are_written_and_none_is_overwritten(tmp_path, capsys):
    assert cli.main(["init-dags", str(tmp_path)]) == 0
    written = {path.stem for path in tmp_path.iterdir()}
    assert written == {"lakekeeper_maintenance", "lakekeeper_cleanup", "lakekeeper_on_demand"}
    assert cli.main(["init-dags", str(tmp_path / "dags")]) == 0
    assert {path.stem for path in (tmp_path / "dags").iterdir()} == written
    assert cli.main(["init-dags", str(tmp_path)]) == 2
    assert "--force overwrites what exists; nothing was written" in capsys.readouterr().err
    assert cli.main(["init-dags", str(tmp_path), "-f"]) == 0
    assert cli.main(["init-dags", str(tmp_path / "missing" / "dags")]) == 2
    assert cli.main(["init-dags", str(tmp_path), "--all", "-f"]) == 0
    assert {path.name for path in tmp_path.glob("*.py")} == {
        path.name for path in (ROOT / "example_dags").glob("*.py")
    }


def test_the_dags_of_a_database_have_its_name_and_its_database(tmp_path, capsys):
    assert cli.main(["init-dags", str(tmp_path), "--database", "sales"]) == 0
    names = ["lakekeeper_cleanup_sales", "lakekeeper_maintenance_sales"]
    assert sorted(path.stem for path in tmp_path.iterdir()) == names
    for name in names:
        text = (tmp_path / f"{name}.py").read_text()
        assert 'DATABASE: str | None = "sales"' in text
        assert f'DAG_ID = "{name}"' in text
    assert cli.main(["init-dags", str(tmp_path), "--database", "Sales"]) == 2
    assert "nothing was written" in capsys.readouterr().err  # Hive's names have no case
    (tmp_path / "dangling").symlink_to(tmp_path / "missing/dags")
    assert cli.main(["init-dags", str(tmp_path / "dangling")]) == 2
    assert "cannot write to" in capsys.readouterr().err
    assert cli.main(["init-dags", str(tmp_path), "--database", 'x"; y']) == 2
    assert "expected the name of a database" in capsys.readouterr().err


def test_without_a_command_it_helps_and_a_wrong_one_is_named(capsys):
    assert cli.main([]) == 2
    assert "COMMAND" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.main(["histroy"])
    assert ended.value.code == 2
    assert "there is no command 'histroy' (did you mean 'history'?)" in capsys.readouterr().err


@pytest.mark.parametrize("obstacle", ["directory", "full"])
def test_all_dags_are_written_or_none(tmp_path, capsys, monkeypatch, obstacle):
    """Before: half of a DAG was left, for Airflow to read, and the next call refused because of it."""
    if obstacle == "directory":
        (tmp_path / "lakekeeper_on_demand.py").mkdir()
    else:
        write_text = Path.write_text

        def full(path, text, *args):
            if "on_demand" in path.name:
                write_text(path, text[:100], *args)
                raise OSError(errno.ENOSPC, "No space left on device")
            return write_text(path, text, *args)

        monkeypatch.setattr(Path, "write_text", full)
    assert cli.main(["init-dags", str(tmp_path), "-f"]) == 2
    assert "cannot write to" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".py"] == []
    if obstacle == "full":
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["\u65e5" * 20, "\u0130stanbul", "Gr\u00f6\u00dfe", "a" * 129])
def test_a_name_that_no_database_of_hive_has(tmp_path, capsys, name):
    assert cli.main(["init-dags", str(tmp_path), "-d", name]) == 2
    assert "--database: expected the name of a database" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_a_directory_that_cannot_be_looked_at(tmp_path, capsys, name):
    assert cli.main(["init-dags", str(tmp_path / name)]) == 2
    assert "error: " in capsys.readouterr().err
