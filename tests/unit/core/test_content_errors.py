"""Which errors of Java are about the content of a file: only what a reader of formats has raised about its bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spark_jobs.adapters.hadoop.content_errors import content_errors, is_of_content
from spark_jobs.adapters.spark.requests import explained
from spark_jobs.core.errors import LakekeeperError, Unreadable
from spark_jobs.protocol.file_system import FileSystemError


class _Frame:
    def __init__(self, owner: str) -> None:
        self._owner = owner

    def getClassName(self) -> str:
        return self._owner


class _Class:
    def __init__(self, name: str) -> None:
        self._name = name

    def getName(self) -> str:
        return self._name


class _Java:
    """An exception of Java as py4j shows it."""

    def __init__(self, kind: str, text: str | None, stack: Sequence[str], cause: _Java | None = None) -> None:
        self._kind, self._text, self._stack, self._cause = kind, text, stack, cause

    def getClass(self) -> _Class:
        return _Class(self._kind)

    def getClassName(self) -> str:
        return self._kind

    def getMessage(self) -> str | None:
        return self._text

    def getStackTrace(self) -> list[_Frame]:
        return [_Frame(owner) for owner in self._stack]

    def getCause(self) -> _Java | None:
        return self._cause


class _Raised(Exception):
    """As PySpark raises it."""

    __module__ = "pyspark.errors"

    def __init__(self, origin: _Java) -> None:
        super().__init__("Job aborted")
        self._origin = origin


_TASK = ["org.apache.spark.scheduler.Task", "java.lang.Thread"]
_PARQUET, _ORC = "org.apache.parquet.hadoop.ParquetFileReader", "org.apache.orc.impl.ReaderImpl"
_HDFS, _RPC = "org.apache.hadoop.hdfs.DFSInputStream", "org.apache.hadoop.ipc.Client"
_EOF, _IO = "java.io.EOFException", "java.io.IOException"
CONTENT = {
    "no format": _Java("java.lang.RuntimeException", "a is not a Parquet file", [_PARQUET]),
    "a decoder's index": _Java("java.lang.ArrayIndexOutOfBoundsException", "7", ["java.util.Arrays", _ORC]),
    "a number that is cut off": _Java(
        _EOF, None, ["java.io.DataInputStream", "org.apache.hadoop.io.SequenceFile$Reader", *_TASK]
    ),
    "behind the end, as its footer says": _Java(_EOF, "Cannot seek after EOF", [_HDFS, _ORC]),
    "packed bytes": _Java(
        _IO, "not a gzip file", ["org.apache.hadoop.io.compress.zlib.BuiltInGzipDecompressor"]
    ),
    "native codec": _Java("java.lang.InternalError", "lz4", ["org.apache.hadoop.io.compress.Lz4Codec"]),
    "a codec that the format calls": _Java(
        _IO, "FAILED_TO_UNCOMPRESS(5)", ["org.xerial.snappy.Snappy", _PARQUET]
    ),
    "a local checksum": _Java(
        "org.apache.hadoop.fs.ChecksumException",
        "Checksum error: file:/t/a at 0",
        ["org.apache.hadoop.fs.FSInputChecker"],
    ),
    "without its own stack": _Java(
        "org.apache.parquet.io.ParquetDecodingException",
        "Can not read value",
        [_PARQUET],
        _Java("java.lang.NullPointerException", None, []),
    ),
}
CLUSTER = {
    "a missing block": _Java(
        "org.apache.parquet.io.ParquetDecodingException",
        "Can not read value at 1 in block 0 in file a",
        [_PARQUET],
        _Java("org.apache.hadoop.hdfs.BlockMissingException", "Could not obtain block", [_HDFS, _PARQUET]),
    ),
    "a connection that is closed": _Java(
        _EOF, "Unexpected EOF while trying to read response from server", [_HDFS, _ORC]
    ),
    "an answer that is cut off": _Java(_EOF, None, ["java.io.DataInputStream", _RPC, _HDFS, _PARQUET]),
    "a packet that is cut off": _Java(
        _IO, "Premature EOF from inputStream", ["org.apache.hadoop.io.IOUtils", _HDFS, _PARQUET]
    ),
    "a connection that is refused": _Java("java.net.ConnectException", "refused", [_PARQUET]),
    "no permission": _Java("org.apache.hadoop.security.AccessControlException", "denied", [_PARQUET]),
    "a file that is gone": _Java("java.io.FileNotFoundException", "a", [_PARQUET]),
    "no memory": _Java("java.lang.OutOfMemoryError", "Java heap space", [_PARQUET]),
    "no memory for a decoder": _Java(
        "x.Wrapper", "a", [_PARQUET], _Java("java.lang.OutOfMemoryError", "", [_PARQUET])
    ),
    "a missing class": _Java("java.lang.NoClassDefFoundError", "x/Y", [_PARQUET]),
    "a missing library": _Java(
        "java.lang.RuntimeException",
        "native zStandard library not available",
        ["org.apache.hadoop.io.compress.X"],
    ),
    "a setting of the cluster": _Java(
        "java.lang.IllegalArgumentException",
        "Illegal bufferSize",
        ["org.apache.hadoop.io.compress.DecompressorStream"],
    ),
    "a setting that is no number": _Java(
        "java.lang.NumberFormatException",
        'For input string: "true"',
        ["java.lang.Long", "org.apache.orc.OrcConf", _ORC],
    ),
    "no class for keys": _Java(
        _IO,
        "Could not find a deserializer for the Key class: 'a'. Please ensure that the configuration is right",
        ["org.apache.hadoop.io.SequenceFile$Reader"],
    ),
    "a library that is not loaded": _Java(
        "org.xerial.snappy.SnappyError",
        "[FAILED_TO_LOAD_NATIVE_LIBRARY] null",
        ["org.xerial.snappy.S", _PARQUET],
    ),
    "a timeout": _Java("java.util.concurrent.TimeoutException", "", [_PARQUET]),
    "a checksum of HDFS": _Java(
        "org.apache.hadoop.fs.ChecksumException",
        "Checksum error: /t/a at 0",
        ["org.apache.hadoop.fs.FSInputChecker"],
    ),
    "a disk": _Java(
        _IO, "Input/output error", ["java.io.FileInputStream", "org.apache.hadoop.fs.RawLocalFileSystem"]
    ),
    "shuffled rows": _Java(
        _IO,
        "Stream is corrupted",
        ["net.jpountz.lz4.LZ4BlockInputStream", "org.apache.spark.storage.X", _PARQUET],
    ),
    "an executor": _Java("org.apache.spark.SparkException", "executor lost", _TASK),
    "nobody": _Java("java.lang.NullPointerException", None, []),
    "a key of encryption": _Java("org.apache.parquet.crypto.KeyAccessDeniedException", "", [_PARQUET]),
}


@pytest.mark.parametrize("name", CONTENT)
def test_what_a_decoder_says_is_about_the_content(name: str) -> None:
    error = _Raised(_Java("org.apache.spark.SparkException", "Job aborted", _TASK, CONTENT[name]))
    assert is_of_content(error)
    file = "hdfs://nn/t/p=1/4.orc"
    with (
        pytest.raises(Unreadable, match=r"4\.orc cannot be read: ") as raised,
        content_errors("cannot read", file),
    ):
        raise error
    assert "hdfs dfs -mv 'hdfs://nn/t/p=1/4.orc' <a directory outside the table>" in raised.value.reason


@pytest.mark.parametrize("name", CLUSTER)
def test_what_the_cluster_says_is_not(name: str) -> None:
    error = _Raised(_Java("org.apache.spark.SparkException", "Job aborted", _TASK, CLUSTER[name]))
    assert not is_of_content(error)
    with (
        pytest.raises(FileSystemError, match="cannot read: "),
        content_errors("cannot read", "hdfs://nn/t/4.orc"),
    ):
        raise error


def test_a_file_that_the_cluster_fails_to_read_fails_its_unit() -> None:
    for java, kind in ((CLUSTER["a missing block"], LakekeeperError), (CONTENT["no format"], Unreadable)):
        found = explained(_Raised(java), "hdfs://nn/t/4.orc")
        assert type(found) is kind
        assert "4.orc cannot be read: " in str(found)
