"""The metadata of Avro files, besides schema and codec, that a copy carries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: What a copy has of its own: schema and codec as the originals, and a sync marker, which old writers note too.
_OWN = frozenset({"avro.schema", "avro.codec", "avro.sync"})
_VERSION = "org.apache.spark.version"
#: The first version of Spark that writes days before 1582 in the proleptic Gregorian calendar, unless it notes that it
#: does not.
_PROLEPTIC = (3,)
#: By these keys Spark and Hive note how dates and timestamps must be interpreted. They say nothing else of the file, so
#: that they are true for a file with the records of several files that all have them.
_CARRIED = frozenset(
    {
        _VERSION,
        "org.apache.spark.legacyDateTime",
        "org.apache.spark.timeZone",
        "writer.time.zone",
        "writer.proleptic",
        "writer.zone.conversion.legacy",
    }
)


def schema_key(text: str) -> str:
    """Return what is equal for two schemas that say the same in every attribute, whatever their spaces and order.

    Avro's library leaves out attributes that the specification does not have, so that its schemas can be equal if those
    of the files are not.
    """
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):  # Avro's library may read what is no JSON: it allows comments.
        return text


def check_keys(name: str, keys: Iterable[str]) -> list[str]:
    """Return the keys of a file that a copy carries.

    Raises:
        Refusal: TYPE, no copy can carry the metadata of a key: what it says may be true for that file alone.
    """
    carried = [key for key in keys if key not in _OWN]
    for key in carried:
        if key not in _CARRIED:  # guard: unknown_metadata_refused
            raise Refusal(
                RefusalCode.TYPE, f"{name} carries metadata of its own ({key}), which would be lost"
            )
    return carried


def common(files: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, str]:
    """Return the metadata of a file with the records of all files.

    Versions of Spark may differ if all of them interpret dates alike. The copy notes the oldest.

    Args:
        files: the names of the files, with their metadata.

    Raises:
        Refusal: TYPE, the files differ in it.
    """
    first, wanted = files[0]
    versions = {metadata.get(_VERSION, "") for _, metadata in files}
    oldest = min(versions, key=_number)
    alike = _number(oldest) >= _PROLEPTIC
    for name, metadata in files:
        if _compared(metadata, alike) != _compared(wanted, alike):  # guard: metadata_agrees
            raise Refusal(
                RefusalCode.TYPE,
                f"{first} and {name} differ in what their metadata says of dates and timestamps",
            )
    return {**wanted, _VERSION: oldest} if oldest else dict(wanted)


def _compared(metadata: Mapping[str, str], versions_alike: bool) -> dict[str, str]:
    return {key: value for key, value in metadata.items() if not (versions_alike and key == _VERSION)}


def _number(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparison; `()` for no version, or for one that is no number."""
    parts = version.split("-")[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
