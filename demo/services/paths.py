"""Find the checkout, its environments and the scratch folder."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVS = ROOT / ".envs"
SCRATCH = ROOT / ".scratch"
#: Of the distribution with the shell and the jobs; that of the provider is in the root.
JOBS_PACKAGE = ROOT / "packaging/jobs"

# Its jars run the metastore, and Airflow submits to it.
DEFAULT_SPARK = "spark-3.5"


def env_dir(name: str) -> Path:
    return ENVS / name


def env_python(name: str) -> Path:
    return env_dir(name) / "bin" / "python"


def spark_home(name: str) -> Path:
    """Return the Spark that the `pyspark` of an environment contains."""
    found = sorted(env_dir(name).glob("lib/python3.*/site-packages/pyspark"))
    if not found:
        raise FileNotFoundError(
            f"no pyspark in {env_dir(name)}; try: python3 -m demo.services.environments {name}"
        )
    return found[0]
