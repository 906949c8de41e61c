"""The job sources on this machine, and the zip of them that spark-submit ships with ``--py-files``."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

from lakekeeper_provider.exceptions import UsageError

_LAUNCHER = "run_lakekeeper.py"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip can hold: equal sources give equal bytes


def jobs_directory() -> Path:
    """Return the directory ``spark_jobs``: inside the wheel, or beside this package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for directory in (package / "_jobs" / "spark_jobs", package.parent / "spark_jobs"):
        if (directory / "compact.py").is_file():
            return directory
    raise UsageError(f"the job sources are missing from {package}: install airflow-provider-lakekeeper again")


def dags_directory() -> Path:
    """Return the directory ``example_dags``: inside the wheel, or beside this package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "example_dags"
    return inside if inside.is_dir() else package.parent / "example_dags"


def job_script(verb: str) -> Path:
    """Return the script of a verb."""
    return jobs_directory() / f"{verb}.py"


def build_bundle(directory: Path, sources: Path | None = None) -> Path:
    """Write the zip of the job sources into ``directory``, named by their content."""
    sources = sources or jobs_directory()
    files = {f"spark_jobs/{p.relative_to(sources).as_posix()}": p.read_bytes() for p in _sources(sources)}
    target = directory / f"lakekeeper-jobs-{_digest(files)}.zip"
    partial = directory / f".{target.name}.{os.getpid()}"
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    partial.replace(target)
    return target


def copy_launcher(directory: Path) -> Path:
    """Write the script that runs a job by its verb into ``directory``, for spark-submit by hand."""
    target = directory / _LAUNCHER
    partial = directory / f".{_LAUNCHER}.{os.getpid()}"
    partial.write_bytes((jobs_directory() / _LAUNCHER).read_bytes())
    partial.replace(target)
    return target


def _sources(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*.py") if path.is_file())


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]
