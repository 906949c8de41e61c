"""The wheels that we ship: what they carry, and that they work where there is no checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from demo.services import paths, uv
from lakekeeper_provider.provider_info import get_provider_info

PACKAGE = paths.ROOT / "lakekeeper_provider"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> tuple[Path, Path]:
    """That of the shell and the jobs, and that of the provider."""
    uv.ensure()
    folder = tmp_path_factory.mktemp("wheels")
    for source in (paths.JOBS_PACKAGE, paths.ROOT):
        uv.run("build", "--wheel", "--out-dir", folder, source)
    [jobs], [provider] = folder.glob("lakekeeper_hive_jobs-*.whl"), folder.glob("airflow_provider_*.whl")
    return jobs, provider


@pytest.fixture(scope="module")
def alone(wheels, tmp_path_factory) -> Path:
    """The content of the wheel of shell and jobs in a folder for PYTHONPATH; a wheel is a zip."""
    return _unpacked(tmp_path_factory.mktemp("alone"), wheels[:1])


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory) -> Path:
    """The content of both."""
    return _unpacked(tmp_path_factory.mktemp("site"), wheels)


def _unpacked(folder: Path, wheels: Sequence[Path]) -> Path:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(installed) -> Message:
    [found] = installed.glob("airflow_provider_*.dist-info/METADATA")
    return Parser().parsestr(found.read_text())


def python(installed: Path, *argv: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(installed), "AIRFLOW_HOME": str(installed / "airflow-home")}
    command = [sys.executable, "-W", "ignore", *argv]
    done = subprocess.run(command, cwd=installed, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_neither_wheel_has_a_file_of_the_other_and_both_have_all(wheels):
    jobs, provider = map(_names, wheels)
    assert not jobs & provider
    sources = {
        f"lakekeeper_provider/{path.relative_to(PACKAGE)}"
        for path in PACKAGE.rglob("*")
        if path.suffix != ".pyc"
    }
    files = {name for name in sources if (PACKAGE.parent / name).is_file()}
    assert files <= jobs | provider


def test_the_provider_requires_the_jobs_of_its_own_version(metadata, wheels):
    [pinned] = [line for line in metadata.get_all("Requires-Dist") if line.startswith("lakekeeper-hive-jobs")]
    assert pinned == f"lakekeeper-hive-jobs=={metadata['Version']}"
    assert all(f"-{metadata['Version']}-" in wheel.name for wheel in wheels)


def test_the_command_needs_three_packages_and_no_airflow(alone):
    [found] = alone.glob("lakekeeper_hive_jobs-*.dist-info/METADATA")
    required = Parser().parsestr(found.read_text()).get_all("Requires-Dist")
    assert sorted(re.split(r"[>=<]", line)[0] for line in required) == ["argcomplete", "jinja2", "pyyaml"]
    program = (
        "import sys; sys.modules['airflow'] = None; "
        "from lakekeeper_provider.shell import cli; cli.main(['generate-config', '-o', '-'])"
    )
    assert python(alone, "-c", program).startswith("# lakekeeper.yaml")


def test_carries_the_jobs_inside_the_package_and_nothing_beside_it(wheels):
    names = _names(wheels[0])
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


def test_the_description_leads_to_nothing_that_a_package_index_does_not_have(metadata):
    description = metadata.get_payload()
    assert "make demo" in description
    assert re.findall(r"\]\((?!#)[^)]*\)", description) == []


def test_no_extra_puts_a_full_spark_beside_airflow(metadata):
    required = metadata.get_all("Requires-Dist")
    assert len(required) > 5
    assert [line for line in required if re.match(r"pyspark\b", line)] == []


def test_the_bundle_is_built_from_the_wheel(installed, tmp_path):
    program = (
        "import sys, pathlib; from lakekeeper_provider.launch import bundle; "
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


@pytest.mark.parametrize("name", ["lakekeeper", "lakekeeper-hive"])
def test_the_command_is_declared_and_runs(installed, name):
    program = (
        "from importlib.metadata import entry_points; "
        f"[found] = {{each.value: each for each in entry_points(group='console_scripts', name={name!r})}}.values(); "
        "found.load()(['generate-config', '-o', '-'])"
    )
    assert python(installed, "-c", program).startswith("# lakekeeper.yaml")
