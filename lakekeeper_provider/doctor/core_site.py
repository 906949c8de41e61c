"""What the core-site.xml of Hadoop's configuration says, as far as it can be read without Hadoop."""

from __future__ import annotations

import contextlib
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path

CORE_SITE = "core-site.xml"
_AUTHENTICATION = "hadoop.security.authentication"


class Unknown(Exception):
    """It does not say; the text has the reason, after "because"."""


def asks_for_kerberos(environ: Mapping[str, str]) -> bool:
    """Tell whether a client of this environment has to log in. Raise Unknown if that cannot be told."""
    path = _file(environ)
    try:
        # The file is the cluster's own configuration.
        root = ElementTree.parse(path).getroot()  # noqa: S314
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise Unknown(f"{path} cannot be read: {error}") from None
    if any(_name(each) == "include" for each in root.iter()):
        raise Unknown(f"{path} includes other files")
    # The last value counts, as for Hadoop.
    value = ([value for name, value in _properties(root) if name == _AUTHENTICATION] or ["simple"])[-1]
    if "${" in value:
        raise Unknown(f"{path} has {_AUTHENTICATION}={value}")
    return value.lower() == "kerberos"


def _file(environ: Mapping[str, str]) -> Path:
    for variable in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        path = Path(environ.get(variable) or os.devnull, CORE_SITE)
        with contextlib.suppress(OSError, ValueError):  # in a directory that this account may not enter
            if path.is_file():
                return path
    raise Unknown(f"no {CORE_SITE} says whether the cluster asks for one")


def _properties(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Yield names and values; either is an element or an attribute."""
    for each in root.iter():
        if _name(each) == "property":
            texts = {_name(part): (part.text or "").strip() for part in each}
            yield tuple(texts.get(key, each.get(key, "")).strip() for key in ("name", "value"))  # type: ignore[misc]


def _name(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]
