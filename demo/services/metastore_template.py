"""A metastore's database whose tables exist and are empty: made once for a checkout, copied for each start.

Making the tables takes as long as all else that a metastore does at its start.
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
#: What decides how the tables look.
_LIBRARIES = ("hive-metastore-*", "datanucleus-*", "derby-*")

#: The command that makes the tables in a directory.
Command = Callable[[Path], Sequence[str]]


def copy_to(directory: Path, jars: Path, settings: Mapping[str, str], command: Command) -> None:
    """Puts an empty database into a metastore's directory, unless it has one already."""
    if not (directory / "derby").exists():
        template = TEMPLATES / _key(jars, settings)
        if not template.exists():
            _make(template, command)
        shutil.copytree(template / "derby", directory / "derby")


def _key(jars: Path, settings: Mapping[str, str]) -> str:
    names = sorted(path.name for library in _LIBRARIES for path in jars.glob(f"{library}.jar"))
    known = json.dumps([names, sorted(settings.items()), SCHEMA.read_text()])
    return hashlib.sha256(known.encode()).hexdigest()[:16]


def _make(template: Path, command: Command) -> None:
    """In a folder of its own, renamed when it is whole: two suites may start at once, and a run may be interrupted."""
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=TEMPLATES, prefix="making-"))
    with (made / "output.txt").open("wb") as log:
        done = subprocess.run(command(made), cwd=made, stdout=log, stderr=subprocess.STDOUT, timeout=LIMIT)
    if done.returncode != 0:
        raise RuntimeError(f"the metastore's tables were not made; see {made / 'output.txt'}")
    try:
        made.rename(template)
    except OSError:
        if not template.exists():
            raise
        shutil.rmtree(made)  # another suite was quicker


def classes(jars: Path) -> list[str]:
    """All that a metastore keeps; by itself it makes a table when it first needs one."""
    (jar,) = jars.glob("hive-metastore-*.jar")
    (package,) = ElementTree.fromstring(zipfile.ZipFile(jar).read("package.jdo")).iter("package")
    return [f"{package.get('name')}.{found.get('name')}" for found in package.iter("class")]
