"""What can be imported where: the protocol needs no Spark."""

from __future__ import annotations

import subprocess

import pytest

from demo.services import paths

#: Imports all modules of a package, and tells how many.
WALK = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
print(len([importlib.import_module(name) for name in names]))
"""


def _python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In the environment of the linters, which has no Spark."""
    command = [paths.env_python("dev"), "-c", program, *arguments]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("package", ["pyspark", "py4j"])
def test_the_environment_of_the_linters_has_no_spark(package: str) -> None:
    assert f"No module named '{package}'" in _python(f"import {package}").stderr


@pytest.mark.parametrize("package", ["spark_jobs.core", "spark_jobs.protocol"])
def test_the_protocol_is_imported_without_spark(package: str) -> None:
    """A planner, a swap or a recovery can be tested, and read, without a cluster."""
    done = _python(WALK, package)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 20


def test_the_adapters_are_not() -> None:
    assert "No module named 'py" in _python(WALK, "spark_jobs.adapters").stderr
