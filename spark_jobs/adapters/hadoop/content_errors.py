"""Tells errors about the content of a file from errors of the cluster.

A file that is damaged, cut off or of another format fails each night. What the cluster fails with may be gone by then:
a block that is missing now, a connection, a permission, memory. So an error counts as one of the content only if the
code that raised it decodes what was read: a reader of a format, or a codec. Which code that was, the stack of the first
cause tells. Hadoop's file systems decode nothing, but for the ends of files and the checksums of a local disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spark_jobs.adapters.hadoop.java_errors import (
    causes,
    first_line,
    is_java_error,
    java_errors,
    kind_of,
    root_cause,
)
from spark_jobs.core.messages.errors import Unreadable

#: The code of formats and of Hadoop's codecs. Spark's own codecs are none of them: they pack shuffled rows.
_DECODERS = (
    "org.apache.avro.",
    "org.apache.hadoop.hive.",
    "org.apache.hadoop.io.SequenceFile",
    "org.apache.hadoop.io.compress.",
    "org.apache.hadoop.mapreduce.lib.input.",
    "org.apache.hive.",
    "org.apache.orc.",
    "org.apache.parquet.",
    "org.apache.spark.sql.execution.datasources.orc.",
    "org.apache.spark.sql.execution.datasources.parquet.",
)
#: Code of formats that reads settings.
_CONFIGURATION = (
    "org.apache.orc.OrcConf",
    "org.apache.parquet.hadoop.util.ConfigurationUtil",
    "org.apache.parquet.hadoop.util.SerializationUtil",
)
#: Code of both, such as the readers of numbers: whoever called it decides.
_SHARED = ("org.apache.hadoop.io.", "org.apache.spark.sql.execution.vectorized.", "org.apache.spark.unsafe.")
#: All other code of Hadoop and Spark: file systems, connections, tasks.
_CLUSTER = ("org.apache.hadoop.", "org.apache.spark.")
#: Errors that are never about the content, whoever raised them.
_NEVER = (
    "java.io.FileNotFoundException",
    "java.io.InterruptedIOException",
    "java.lang.ClassNotFoundException",
    "java.lang.InterruptedException",
    "java.lang.NoSuchMethodException",
    "java.net.",
    "java.nio.channels.",
    "java.nio.file.",
    "java.security.",
    "java.util.concurrent.CancellationException",
    "java.util.concurrent.RejectedExecutionException",
    "java.util.concurrent.TimeoutException",
    "javax.",
    "org.apache.hadoop.mapred.InvalidInputException",
    "org.apache.hadoop.mapreduce.lib.input.InvalidInputException",
    "org.apache.hadoop.hdfs.",
    "org.apache.hadoop.ipc.",
    "org.apache.hadoop.net.",
    "org.apache.hadoop.security.",
    "org.apache.parquet.crypto.",
)
#: Errors of the JVM: no memory, classes that are missing or do not fit. Codecs raise an InternalError about bytes.
_OF_JVM = re.compile(r"java\.lang\.(?!Internal|Assertion)\w*Error\Z")
#: Hadoop's and Snappy's codecs without their native library.
_NO_LIBRARY = re.compile(
    r"(native )?[\w-]+ library( is)? not available\b|.*FAILED_TO_LOAD_NATIVE_LIBRARY", re.IGNORECASE
)
#: What Hadoop's file systems say of a place behind the end of a file, to which its own content has led.
_BEHIND_THE_END = (
    "Attempted to seek or read past the end of the file",
    "Cannot seek after EOF",
    "Cannot seek to a negative offset",
    "End of file reached before reading fully",
)
#: How Hadoop says that no class in `io.serializations` reads the keys or values.
NO_DESERIALIZER = "Could not find a deserializer"
#: How Spark says that the values of one batch of its vectorized readers exceed 2 GB.
BATCH_TOO_LARGE = "Cannot reserve additional contiguous bytes in the vectorized reader"
#: What streams and readers say of settings of the cluster (`io.file.buffer.size`).
_OF_SETTINGS = ("Illegal bufferSize", NO_DESERIALIZER, BATCH_TOO_LARGE)
#: On HDFS, another copy of the block may be whole.
_LOCAL_CHECKSUM = "Checksum error: file:"
#: This many calls are looked at, the innermost first.
_FRAMES = 50


def lacks_library(text: str) -> bool:
    """Tell whether a message is about a codec whose native library is missing."""
    return bool(_NO_LIBRARY.match(text))


def may_be_of_a_file(error: Exception) -> bool:
    """Tell whether reading files one by one may tell which of them an error is about."""
    chain = causes(error)
    by_cluster = not chain or _is_of_cluster(chain) or kind_of(chain[-1]).startswith(_CLUSTER)
    return not by_cluster or is_of_content(error)


def _is_of_cluster(chain: list[Any]) -> bool:
    return any(kind.startswith(_NEVER) or _OF_JVM.match(kind) for kind in map(kind_of, chain))


def is_of_content(error: Exception) -> bool:
    """Tell whether an error of Java is about the content of the file that was read."""
    chain = causes(error)
    texts = [first_line(java.getMessage() or "") for java in chain]
    if not chain or _is_of_cluster(chain):  # guard: cluster_errors
        return False
    if any(map(lacks_library, texts)):  # guard: library_is_no_content
        return False
    if texts[-1].startswith(_OF_SETTINGS):  # guard: setting_is_no_content
        return False
    if texts[-1].startswith((*_BEHIND_THE_END, _LOCAL_CHECKSUM)):
        return True
    return _raised_by_decoder(chain)


def _raised_by_decoder(chain: list[Any]) -> bool:
    """Tell who raised the first cause. The JVM leaves out the stack of an error that it has raised very often."""
    stack = next((frames for java in reversed(chain) if (frames := list(java.getStackTrace())[:_FRAMES])), [])
    for frame in stack:
        name = str(frame.getClassName())
        if name.startswith(_CONFIGURATION):  # guard: configuration_is_no_content
            return False
        if name.startswith(_DECODERS):
            return True
        if name.startswith(_CLUSTER) and not name.startswith(_SHARED):
            return False
    return False


@contextmanager
def content_errors(what: str, file: str) -> Iterator[None]:
    """Translate a Java exception of reading a file.

    Args:
        what: what has failed, for the message.
        file: the URI of the file.

    Raises:
        Unreadable: the content of the file is to blame.
        OSError: anything else is.
    """
    with java_errors(what):
        try:
            yield
        except Exception as error:
            if is_java_error(error) and is_of_content(error):
                raise unreadable_by(error, file) from None
            raise


def unreadable_by(error: Exception, file: str) -> Unreadable:
    """Return the refusal of a file by an error about its content: by its first cause, or by what tells more."""
    kind, text = root_cause(error)
    if text:
        return Unreadable(file, text)
    told = [java for java in causes(error) if not kind_of(java).startswith(_CLUSTER) and java.getMessage()]
    return Unreadable(file, f"{first_line(told[-1].getMessage())} ({kind})" if told else kind)
