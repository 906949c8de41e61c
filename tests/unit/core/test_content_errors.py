"""Which errors of Java are about the content of a file: only what a reader of formats has raised about its bytes."""

from __future__ import annotations

import pytest

from spark_jobs.adapters.hadoop.content_errors import content_errors, is_of_content
from spark_jobs.adapters.spark.requests import explained
from spark_jobs.core.messages.errors import LakekeeperError, Refusal, Unreadable
from spark_jobs.protocol.file_system import FileSystemError
from tests.unit.core.java_fakes import JavaError, RaisedError

_TASK = ["org.apache.spark.scheduler.Task", "java.lang.Thread"]
_PARQUET, _ORC = "org.apache.parquet.hadoop.ParquetFileReader", "org.apache.orc.impl.ReaderImpl"
_HDFS, _RPC = "org.apache.hadoop.hdfs.DFSInputStream", "org.apache.hadoop.ipc.Client"
_EOF, _IO = "java.io.EOFException", "java.io.IOException"
CONTENT = {
    "no format": JavaError("java.lang.RuntimeException", "a is not a Parquet file", [_PARQUET]),
    "a decoder's index": JavaError(
        "java.lang.ArrayIndexOutOfBoundsException", "7", ["java.util.Arrays", _ORC]
    ),
    "a number that is cut off": JavaError(
        _EOF, None, ["java.io.DataInputStream", "org.apache.hadoop.io.SequenceFile$Reader", *_TASK]
    ),
    "behind the end, as its footer says": JavaError(_EOF, "Cannot seek after EOF", [_HDFS, _ORC]),
    "packed bytes": JavaError(
        _IO, "not a gzip file", ["org.apache.hadoop.io.compress.zlib.BuiltInGzipDecompressor"]
    ),
    "native codec": JavaError("java.lang.InternalError", "lz4", ["org.apache.hadoop.io.compress.Lz4Codec"]),
    "a codec that the format calls": JavaError(
        _IO, "FAILED_TO_UNCOMPRESS(5)", ["org.xerial.snappy.Snappy", _PARQUET]
    ),
    "a local checksum": JavaError(
        "org.apache.hadoop.fs.ChecksumException",
        "Checksum error: file:/t/a at 0",
        ["org.apache.hadoop.fs.FSInputChecker"],
    ),
    "without its own stack": JavaError(
        "org.apache.parquet.io.ParquetDecodingException",
        "Can not read value",
        [_PARQUET],
        JavaError("java.lang.NullPointerException", None, []),
    ),
}
CLUSTER = {
    "a missing block": JavaError(
        "org.apache.parquet.io.ParquetDecodingException",
        "Can not read value at 1 in block 0 in file a",
        [_PARQUET],
        JavaError(
            "org.apache.hadoop.hdfs.BlockMissingException", "Could not obtain block", [_HDFS, _PARQUET]
        ),
    ),
    "a connection that is closed": JavaError(
        _EOF, "Unexpected EOF while trying to read response from server", [_HDFS, _ORC]
    ),
    "an answer that is cut off": JavaError(_EOF, None, ["java.io.DataInputStream", _RPC, _HDFS, _PARQUET]),
    "a packet that is cut off": JavaError(
        _IO, "Premature EOF from inputStream", ["org.apache.hadoop.io.IOUtils", _HDFS, _PARQUET]
    ),
    "a connection that is refused": JavaError("java.net.ConnectException", "refused", [_PARQUET]),
    "no permission": JavaError("org.apache.hadoop.security.AccessControlException", "denied", [_PARQUET]),
    "a file that is gone": JavaError("java.io.FileNotFoundException", "a", [_PARQUET]),
    "no memory": JavaError("java.lang.OutOfMemoryError", "Java heap space", [_PARQUET]),
    "no memory for a decoder": JavaError(
        "x.Wrapper", "a", [_PARQUET], JavaError("java.lang.OutOfMemoryError", "", [_PARQUET])
    ),
    "a missing class": JavaError("java.lang.NoClassDefFoundError", "x/Y", [_PARQUET]),
    "a missing library": JavaError(
        "java.lang.RuntimeException",
        "native zStandard library not available",
        ["org.apache.hadoop.io.compress.X"],
    ),
    "a missing library, with a hyphen": JavaError(
        "java.lang.RuntimeException",
        "lz4-java library is not available: Lz4Compressor has not been loaded",
        ["org.apache.hadoop.io.compress.lz4.Lz4Decompressor"],
    ),
    "large values": JavaError(
        "java.lang.RuntimeException",
        "Cannot reserve additional contiguous bytes in the vectorized reader (requested 2147483648 bytes).",
        ["org.apache.spark.sql.execution.vectorized.WritableColumnVector", _PARQUET],
    ),
    "a setting of the cluster": JavaError(
        "java.lang.IllegalArgumentException",
        "Illegal bufferSize",
        ["org.apache.hadoop.io.compress.DecompressorStream"],
    ),
    "a setting that is no number": JavaError(
        "java.lang.NumberFormatException",
        'For input string: "true"',
        ["java.lang.Long", "org.apache.orc.OrcConf", _ORC],
    ),
    "no class for keys": JavaError(
        _IO,
        "Could not find a deserializer for the Key class: 'a'. Please ensure that the configuration is right",
        ["org.apache.hadoop.io.SequenceFile$Reader"],
    ),
    "a library that is not loaded": JavaError(
        "org.xerial.snappy.SnappyError",
        "[FAILED_TO_LOAD_NATIVE_LIBRARY] null",
        ["org.xerial.snappy.S", _PARQUET],
    ),
    "a timeout": JavaError("java.util.concurrent.TimeoutException", "", [_PARQUET]),
    "a checksum of HDFS": JavaError(
        "org.apache.hadoop.fs.ChecksumException",
        "Checksum error: /t/a at 0",
        ["org.apache.hadoop.fs.FSInputChecker"],
    ),
    "a disk": JavaError(
        _IO, "Input/output error", ["java.io.FileInputStream", "org.apache.hadoop.fs.RawLocalFileSystem"]
    ),
    "shuffled rows": JavaError(
        _IO,
        "Stream is corrupted",
        ["net.jpountz.lz4.LZ4BlockInputStream", "org.apache.spark.storage.X", _PARQUET],
    ),
    "an executor": JavaError("org.apache.spark.SparkException", "executor lost", _TASK),
    "nobody": JavaError("java.lang.NullPointerException", None, []),
    "a key of encryption": JavaError("org.apache.parquet.crypto.KeyAccessDeniedException", "", [_PARQUET]),
}


@pytest.mark.parametrize("name", CONTENT)
def test_what_a_decoder_says_is_about_the_content(name: str) -> None:
    error = RaisedError(JavaError("org.apache.spark.SparkException", "Job aborted", _TASK, CONTENT[name]))
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
    error = RaisedError(JavaError("org.apache.spark.SparkException", "Job aborted", _TASK, CLUSTER[name]))
    assert not is_of_content(error)
    with (
        pytest.raises(FileSystemError, match="cannot read: "),
        content_errors("cannot read", "hdfs://nn/t/4.orc"),
    ):
        raise error


def test_a_file_that_the_cluster_fails_to_read_fails_its_unit() -> None:
    for java, kind in ((CLUSTER["a missing block"], LakekeeperError), (CONTENT["no format"], Unreadable)):
        found = explained(RaisedError(java), "hdfs://nn/t/4.orc")
        assert type(found) is kind
        assert "4.orc cannot be read: " in str(found)


def test_values_too_large_for_a_batch_are_refused_with_the_setting() -> None:
    found = explained(RaisedError(CLUSTER["large values"]), "hdfs://nn/t/4.parquet")
    assert isinstance(found, Refusal)
    assert found.code == "VALUES_TOO_LARGE"
    assert "4.parquet has values that exceed 2 GB" in found.reason
    assert "spark.sql.parquet.columnarReaderBatchSize" in found.reason
