"""The wheel that we ship: what it carries, and that it works where there is no checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from demo.services import paths, uv
from lakekeeper_provider.provider_info import get_provider_info


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    uv.ensure()
    folder = tmp_path_factory.mktemp("wheel")
    uv.run("build", "--wheel", "--out-dir", folder, paths.ROOT)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The wheel's content in a folder for PYTHONPATH; a wheel is a zip."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(installed) -> Message:
    [found] = installed.glob("*.dist-info/METADATA")
    return Parser().parsestr(found.read_text())


def python(installed: Path, *argv: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(installed), "AIRFLOW_HOME": str(installed / "airflow-home")}
    command = [sys.executable, "-W", "ignore", *argv]
    done = subprocess.run(command, cwd=installed, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_carries_the_jobs_inside_the_package_and_nothing_beside_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    scripts = ("analyze", "compact", "rollback", "cleanup", "history", "forget", "check")
    verbs = {f"lakekeeper_provider/_jobs/spark_jobs/{script}.py" for script in scripts}
    assert verbs <= names
    assert {
        "lakekeeper_provider/shell/template.yaml",
        "lakekeeper_provider/shell/schema.json",
        "lakekeeper_provider/py.typed",
    } <= names
    assert "lakekeeper_provider/example_dags/lakekeeper_maintenance.py" in names
    docs = Path(__file__).parents[3] / "docs"
    pages = {f"lakekeeper_provider/docs/{page.relative_to(docs)}" for page in docs.rglob("*.md")}
    assert pages <= names
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"lakekeeper_provider"}
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name or "/demo/" in name]


@pytest.mark.parametrize("shown", ["metadata", "provider info"])
def test_no_address_of_another_project_is_published(metadata, shown):
    text = metadata.as_string() if shown == "metadata" else repr(get_provider_info())
    assert "lakekeeper" in text
    assert re.findall(r"https?://\S+", text) == []


def test_no_extra_puts_a_full_spark_beside_airflow(metadata):
    required = metadata.get_all("Requires-Dist")
    assert len(required) > 5
    assert [line for line in required if re.match(r"pyspark\b", line)] == []


def test_the_bundle_is_built_from_the_wheel(installed, tmp_path):
    program = (
        "import sys, pathlib; from lakekeeper_provider.submission import bundle; "
        "print(bundle.job_script('compact')); print(bundle.build_bundle(pathlib.Path(sys.argv[1])))"
    )
    script, made = python(installed, "-c", program, str(tmp_path)).split()
    assert script == str(installed / "lakekeeper_provider" / "_jobs" / "spark_jobs" / "compact.py")
    with zipfile.ZipFile(made) as archive:
        assert {"spark_jobs/__init__.py", "spark_jobs/compact.py"} <= set(archive.namelist())


def test_airflow_finds_the_provider(installed):
    program = (
        "from airflow.providers_manager import ProvidersManager; "
        "print(ProvidersManager().providers['airflow-provider-lakekeeper'].version)"
    )
    assert python(installed, "-c", program).split()[-1] == "0.2.0.dev0"


def test_the_command_is_declared_and_runs(installed):
    program = (
        "from importlib.metadata import entry_points; "
        "[found] = entry_points(group='console_scripts', name='lakekeeper'); "
        "found.load()(['generate-config', '-o', '-'])"
    )
    assert python(installed, "-c", program).startswith("# lakekeeper.yaml")
