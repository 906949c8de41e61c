"""The limits of file systems on names and paths, which the directories of a run must fit into."""

from __future__ import annotations

from urllib.parse import urlsplit

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.layout import Home, tmp_directory
from spark_jobs.core.values.model import name_of

#: Bytes of a name: dfs.namenode.fs-limits.max-component-length by default, and of local file systems.
_NAME = 255
#: Characters of a path on HDFS, and bytes of a path on Linux.
_PATH = {"hdfs": 8000, "file": 4095}
#: The longest run id with its generation, attempt and time stamp; and the longest name of a file.
_RUN, _ATTEMPT, _STAMP, _FILE = "r" * 80, "a" * 12, "0" * 10, "f" * _NAME


def check_lengths(root: str, location: str) -> None:
    """Raise Refusal if the home of a unit, or a path in it, is longer than its file system allows.

    Args:
        root: the location of the table.
        location: the unit's location.
    """
    home = Home.of(root, location)
    name = name_of(home.path)
    if _bytes(name) > _NAME:  # guard: names_that_fit
        raise Refusal(
            RefusalCode.NAME_TOO_LONG,
            f"the name of {location} has {_bytes(name_of(location))} bytes: the directory for its originals,"
            f" {name[:20]}..., would have {_bytes(name)}, and a name may have {_NAME}",
        )
    inside = f"{home.run_directory(_RUN, _ATTEMPT)}/{tmp_directory(_STAMP)}/{home.relative(location)}/{_FILE}"
    scheme, longest = urlsplit(location).scheme, _bytes(urlsplit(inside).path)
    limit = _PATH.get(scheme, longest)
    if longest > limit:  # guard: paths_that_fit
        raise Refusal(
            RefusalCode.NAME_TOO_LONG,
            f"{location[:100]}... is {_bytes(urlsplit(location).path)} bytes long: a path of its originals could have"
            f" {longest}, and a path may have {limit}",
        )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
