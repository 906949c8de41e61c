"""The hash of the jobs' sources, by which kept verdicts are told apart."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from spark_jobs.adapters.sources import sources_digest


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "spark_jobs"
    (folder / "core").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "core" / "rules.py").write_text("LIMIT = 1\n")
    return folder


def test_it_is_the_same_in_a_folder_and_in_a_zip(package: Path, tmp_path: Path) -> None:
    archive = tmp_path / "jobs.zip"
    with zipfile.ZipFile(archive, "w") as jobs:
        for path in package.rglob("*.py"):
            jobs.write(path, str(path.relative_to(tmp_path)))
        jobs.writestr("other/module.py", "not of the jobs")
    assert sources_digest(archive / "spark_jobs") == sources_digest(package)


def test_another_rule_or_another_name_gives_another_one(package: Path) -> None:
    found = {sources_digest(package)}
    (package / "core" / "rules.py").write_text("LIMIT = 2\n")
    found.add(sources_digest(package))
    (package / "core" / "rules.py").rename(package / "core" / "other.py")
    found.add(sources_digest(package))
    assert len(found) == 3


def test_compiled_files_do_not_count(package: Path) -> None:
    before = sources_digest(package)
    (package / "core" / "rules.pyc").write_bytes(b"compiled")
    assert sources_digest(package) == before


def test_where_they_cannot_be_read_no_other_job_has_the_same(tmp_path: Path) -> None:
    assert sources_digest(tmp_path / "none.pex" / "spark_jobs") != sources_digest(
        tmp_path / "none.pex" / "spark_jobs"
    )


def test_that_of_the_jobs_is_found() -> None:
    assert len(sources_digest()) == 16
