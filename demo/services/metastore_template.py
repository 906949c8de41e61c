"""Create a metastore's empty database once for a checkout, and copy it for each start.

Creating its tables takes as long as the rest of a metastore's start.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from demo.services import paths

TEMPLATES = paths.SCRATCH / "metastore-templates"
SCHEMA = Path(__file__).with_name("MetastoreSchema.java")
LIMIT = 300
#: The libraries whose versions determine the schema.
_LIBRARIES = ("hive-metastore-*", "datanucleus-*", "derby-*")

#: Returns the command that creates the tables in a directory.
Command = Callable[[Path], Sequence[str]]


def copy_to(directory: Path, jars: Path, settings: Mapping[str, str], command: Command) -> None:
    """Copy the empty database into a metastore's directory, unless there is one already."""
    if not (directory / "derby").exists():
        template = TEMPLATES / _key(jars, settings)
        if not template.exists():
            _create(template, command)
        shutil.copytree(template / "derby", directory / "derby")


def _key(jars: Path, settings: Mapping[str, str]) -> str:
    names = sorted(path.name for library in _LIBRARIES for path in jars.glob(f"{library}.jar"))
    known = json.dumps([names, sorted(settings.items()), SCHEMA.read_text()])
    return hashlib.sha256(known.encode()).hexdigest()[:16]


def _create(template: Path, command: Command) -> None:
    """Create the template in a temporary folder, and rename that when it is complete.

    Two processes may do so at once, and each may be interrupted.
    """
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    created = Path(tempfile.mkdtemp(dir=TEMPLATES, prefix="creating-"))
    with (created / "output.txt").open("wb") as log:
        done = subprocess.run(
            command(created), cwd=created, stdout=log, stderr=subprocess.STDOUT, timeout=LIMIT
        )
    if done.returncode != 0:
        raise RuntimeError(f"the metastore's tables were not created; see {created / 'output.txt'}")
    try:
        created.rename(template)
    except OSError:
        if not template.exists():
            raise
        shutil.rmtree(created)  # another process was faster


def classes(jars: Path) -> list[str]:
    """Return the persistent classes; without their names, a metastore creates each table on its first use."""
    (jar,) = jars.glob("hive-metastore-*.jar")
    (package,) = ElementTree.fromstring(zipfile.ZipFile(jar).read("package.jdo")).iter("package")
    return [f"{package.get('name')}.{found.get('name')}" for found in package.iter("class")]
