"""The codec with which a unit is written."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode


def chosen_codec(seen: Sequence[str], declared: str | None, file_format: str) -> tuple[str, tuple[str, ...]]:
    """Return the codec to write with, and warnings.

    It is the declared codec, else the codec of most compressed bytes, and never the default of the session.
    """
    spec = FORMATS[file_format]
    if declared and declared.strip():
        name = declared.strip().lower()
        _check(name, f"the table property {spec.codec_property} = '{declared}'", file_format)
        others = [codec for codec in seen if codec != name]
        warning = (
            f"the table declares {name}, but some files are {', '.join(others)}; the declared codec is used"
        )
        return name, ((WarningCode.CODEC_DIFFERS.text(warning),) if others else ())
    most = seen[0] if seen else spec.no_codec  # guard: codec_of_files
    _check(most, f"the codec of its files, {most},", file_format)
    mixed = f"the files have several codecs ({', '.join(seen)}); the one with the most bytes is used"
    return most, (WarningCode.CODEC_DIFFERS.text(mixed),) if len(seen) > 1 else ()


def _check(name: str, what: str, file_format: str) -> None:
    spec = FORMATS[file_format]
    if spec.codecs and name not in spec.codecs:  # guard: codecs_that_spark_has
        raise Refusal(
            RefusalCode.CODEC,
            f"{what} is none that Spark writes. Set {spec.codec_property} on the table to one of"
            f" {', '.join(spec.codecs)}",
        )


def codec_name(codec: str, file_format: str) -> str:
    """Return the name of a codec as the writer needs it. Formats of Hadoop use class names, whose case counts."""
    return codec if FORMATS[file_format].codec_classes else codec.lower()
