"""What an installer takes for the published requirements, on each Python, by the newest and by the oldest versions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from demo.services import paths, pythons, uv

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel of the jobs, which is on no package index."""
    uv.ensure()
    folder = tmp_path_factory.mktemp("wheel")
    uv.run("build", "--wheel", "--out-dir", folder, paths.JOBS_PACKAGE)
    return folder


def _resolved(project: Path, wheel: Path, version: str, resolution: str) -> dict[str, str]:
    file = wheel / f"{project.name}-{version}-{resolution}.txt"
    options = ("--find-links", wheel, "--python-version", version, "--resolution", resolution)
    uv.run("pip", "compile", *options, project / "pyproject.toml", "--output-file", file)
    return dict(re.findall(r"^([\w.-]+)==(\S+)", file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
@pytest.mark.parametrize("python", [pythons.dotted(version) for version in pythons.VERSIONS])
def test_the_provider_brings_no_full_pyspark(wheel: Path, python: str, resolution: str) -> None:
    found = _resolved(paths.ROOT, wheel, python, resolution)
    assert "lakekeeper-hive-jobs" in found
    assert "pyspark-client" in found
    assert "pyspark" not in found
    airflow = [int(part) for part in found["apache-airflow"].split(".")[:2]]
    assert airflow == [2, 11] if resolution == "lowest-direct" else airflow >= [3, 3]


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
@pytest.mark.parametrize("python", ["3.9", *(pythons.dotted(version) for version in pythons.VERSIONS)])
def test_the_shell_needs_four_packages(wheel: Path, python: str, resolution: str) -> None:
    needed = set(_resolved(paths.JOBS_PACKAGE, wheel, python, resolution))
    assert needed == {"argcomplete", "jinja2", "markupsafe", "pyyaml"}
