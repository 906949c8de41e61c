"""Reads the headers of formats without footers."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

from spark_jobs.adapters.hadoop.content_errors import NO_DESERIALIZER, content_errors, lacks_library
from spark_jobs.adapters.hadoop.java_answers import java_bytes
from spark_jobs.adapters.hadoop.java_errors import message_of, root_cause
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of

#: How the messages of Hadoop and Avro begin.
_UNKNOWN_CODEC = ("Unknown codec", "Unrecognized codec")
#: Java's errors for a class that is missing, that cannot be created, or that cannot load its native library.
_LACKING = ("ClassNotFoundException", "NoClassDefFoundError", "NoSuchMethodException", "UnsatisfiedLinkError")
#: Settings of Spark that must be false: with them, it skips what it cannot read.
_STRICT = ("spark.files.ignoreCorruptFiles", "spark.files.ignoreMissingFiles")


class HeaderFormat(SparkFormat):
    """A format whose files have a header and do not count their rows."""

    def _read_one(self, file: str) -> Footer:
        path = self._path(file)
        with content_errors(f"cannot read the header of {file}", file):
            size = int(path.getFileSystem(self._conf).getFileStatus(path).getLen())
            return self._header(path, size)

    @abstractmethod
    def _header(self, path: Any, size: int) -> Footer:
        """Return what the header says; `path` is a Hadoop Path, `size` in bytes."""

    def _bytes(self, stream: Any, start: int, length: int) -> bytes:
        stream.seek(start)
        return self._next(stream, length)

    def _next(self, stream: Any, length: int) -> bytes:
        """Return the next bytes of a stream, as many as there are."""
        commons = self._jvm.org.apache.commons.io
        return java_bytes(commons.IOUtils, commons.input.BoundedInputStream(stream, length))


class RecordFormat(HeaderFormat):
    """A format that is copied record by record, with the classes of its headers."""

    @cached_property
    def _lenient(self) -> str | None:
        """Return the setting that lets Spark skip files; None if there is none. A session has it from its start."""
        conf = self._spark.sparkContext.getConf()
        # As Spark reads a boolean.
        values = {name: str(conf.get(name, "false")).strip().lower() for name in _STRICT}
        return next((name for name, value in values.items() if value == "true"), None)

    def encoding(self, profile: Profile) -> Encoding:
        # Rows that a lenient reader skips would fail the unit each night.
        if self._lenient:
            raise Refusal(
                RefusalCode.LENIENT,
                f"{self._lenient} is true: files that cannot be read would be skipped without an error. Set it to"
                " false",
            )
        return Encoding(Engine.COPY)


def header(path: Any, codecs: dict[str, int], schema: str, struct: str | None = None) -> Footer:
    """Return the Footer of a file whose rows are not counted."""
    return Footer(name_of(str(path.toString())), None, codecs, {}, {}, schema, struct)


def refuse_missing_class(path: Any, error: Exception) -> None:
    """Raise Refusal if the reader of a file has failed because this Spark lacks its codec, or another class.

    Args:
        error: one of Java, in whichever class of Python it comes.
    """
    text = message_of(error)
    kind, cause = root_cause(error)
    name = name_of(str(path.toString()))
    if text.startswith(_UNKNOWN_CODEC) or lacks_library(text):  # guard: libraries_of_codecs
        raise Refusal(RefusalCode.CODEC, f"{name}: this Spark lacks its codec ({text})") from None
    if kind.rpartition(".")[2] in _LACKING or text.startswith(NO_DESERIALIZER):
        raise Refusal(
            RefusalCode.CODEC, f"{name}: the job has no jar with a class that reads it ({cause})"
        ) from None


def refuse_metadata(path: Any, keys: list[str]) -> None:
    """Raise Refusal for a file with metadata of its own."""
    if keys:
        raise Refusal(
            RefusalCode.TYPE,
            f"{path.toString()} carries metadata of its own ({keys[0]}), which would be lost",
        )
