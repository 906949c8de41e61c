from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch import bundle


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "spark_jobs"
    (folder / "core" / "__pycache__").mkdir(parents=True)
    (folder / "compact.py").write_text("print('compact')")
    (folder / "core" / "__init__.py").write_text("")
    (folder / "core" / "__pycache__" / "x.pyc").write_bytes(b"compiled")
    return folder


def test_holds_the_sources_below_their_package_name(sources, tmp_path):
    with zipfile.ZipFile(bundle.build_bundle(tmp_path, sources)) as archive:
        assert archive.namelist() == ["spark_jobs/compact.py", "spark_jobs/core/__init__.py"]
        assert archive.read("spark_jobs/compact.py") == b"print('compact')"


def test_equal_sources_give_the_same_bytes_and_name(sources, tmp_path):
    copy = tmp_path / "elsewhere" / "spark_jobs"
    shutil.copytree(sources, copy)
    one, two = bundle.build_bundle(tmp_path, sources), bundle.build_bundle(tmp_path / "elsewhere", copy)
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_changed_sources_give_another_name(sources, tmp_path):
    before = bundle.build_bundle(tmp_path, sources)
    (sources / "compact.py").write_text("print('other')")
    assert bundle.build_bundle(tmp_path, sources).name != before.name


def test_leaves_nothing_but_the_bundle(sources, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    made = bundle.build_bundle(target, sources)
    assert list(target.iterdir()) == [made]


def test_finds_the_jobs_of_this_installation():
    for verb in ("analyze", "compact", "rollback", "cleanup", "history", "forget", "check"):
        assert bundle.job_script(verb).is_file()


def test_says_what_to_do_when_the_jobs_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        bundle, "__file__", str(tmp_path / "lakekeeper_provider" / "submission" / "bundle.py")
    )
    with pytest.raises(UsageError, match="install airflow-provider-lakekeeper again"):
        bundle.jobs_directory()
