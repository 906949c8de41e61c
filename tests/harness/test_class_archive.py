"""Spark's classes come out of an archive, and without one it works as well."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from demo.services import class_archive, paths


@pytest.mark.skipif(
    not sys.prefix.endswith(paths.DEFAULT_SPARK), reason="the other environments have no archive"
)
def test_a_driver_maps_the_archive_of_its_environment(spark):
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    assert str(class_archive.archive(paths.DEFAULT_SPARK)) in Path(f"/proc/{driver}/maps").read_text()


def test_without_a_java_that_writes_one_there_is_none(monkeypatch, tmp_path):
    home = tmp_path / "env/lib/python3.11/site-packages/pyspark"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "spark-submit"
    program.write_text(
        "#!/bin/sh\necho half > \"$(echo $SPARK_SUBMIT_OPTS | sed 's/.*AtExit=//; s/ .*//')\"\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(paths, "ENVS", tmp_path)
    class_archive.archive("env").write_text("of another Java")
    class_archive.create("env", dict(os.environ))
    assert [path.name for path in (tmp_path / "env").iterdir()] == ["lib"]


def test_a_java_that_cannot_write_its_own_is_left_as_it_is(tmp_path):
    program = tmp_path / "bin/java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    class_archive.create_base(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]
