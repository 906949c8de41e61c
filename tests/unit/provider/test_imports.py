"""The provider runs where Spark and the job sources are not importable, and its entry point without Airflow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lakekeeper_provider

PACKAGE = Path(lakekeeper_provider.__file__).parent
MODULES = sorted(
    ".".join(("lakekeeper_provider", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py" and "_jobs" not in path.parts and "example_dags" not in path.parts
)


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_imports_spark_or_the_jobs():
    block = "import sys; sys.modules['pyspark'] = None; sys.modules['spark_jobs'] = None"
    out = run(f"{block}\nimport importlib\nfor name in {MODULES!r}: print(importlib.import_module(name))")
    assert out.count("<module") == len(MODULES) > 20


def test_the_entry_point_does_not_import_airflow():
    out = run(
        "import sys; sys.modules['airflow'] = None\n"
        "from lakekeeper_provider.provider_info import get_provider_info\n"
        "print(get_provider_info()['package-name'])"
    )
    assert out.strip() == "airflow-provider-lakekeeper"


def test_the_package_itself_imports_nothing():
    out = run(
        "import sys; before = set(sys.modules); import lakekeeper_provider\n"
        "print(sorted(set(sys.modules) - before))"
    )
    assert out.strip() == "['lakekeeper_provider']"
