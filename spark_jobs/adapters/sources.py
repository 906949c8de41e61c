"""The sources of the jobs, as they were submitted: a verdict that other sources came to may be another one by these."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import spark_jobs


def sources_digest(package: Path | None = None) -> str:
    """Return a hash of the names and contents of all modules.

    Args:
        package: the directory of the package, also inside a zip of `--py-files`; by default the package of these jobs.
    """
    package = package or Path(spark_jobs.__path__[0])
    try:
        files = sorted(_from_directory(package) if package.is_dir() else _from_zip(package))
    except (OSError, BadZipFile):  # By another loader of modules: what was kept counts for no other job then.
        return uuid.uuid4().hex[:16]
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _from_directory(package: Path) -> Iterator[tuple[str, bytes]]:
    return ((path.relative_to(package).as_posix(), path.read_bytes()) for path in package.rglob("*.py"))


def _from_zip(package: Path) -> Iterator[tuple[str, bytes]]:
    prefix = f"{package.name}/"
    with ZipFile(package.parent) as archive:
        for name in archive.namelist():
            if name.startswith(prefix) and name.endswith(".py"):
                yield name[len(prefix) :], archive.read(name)
