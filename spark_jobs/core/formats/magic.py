"""The detection of binary formats by magic bytes."""

from __future__ import annotations

#: First bytes that no line of text has. RCFiles, and sequence files (below), have their version after the name.
_MAGIC_BYTES = {
    b"Obj\x01": "Avro",
    b"RCF\x01": "RCFile",
    b"PK\x03\x04": "ZIP",
    b"(\xb5/\xfd": "Zstandard",
    b"\xfd7zX": "XZ",
    b"\x89LZO": "lzop",
    b"\x04\x22\x4d\x18": "LZ4",
}
#: The second byte of a zlib stream (RFC 1950) with the usual window; `x^` of the fourth level may begin a line of text.
_ZLIB_LEVELS = (b"\x01", b"\x9c", b"\xda")
_BZIP2 = range(ord("1"), ord("9") + 1)
_VERSIONS = range(1, 10)
#: The length of an ORC postscript, which is the last byte of the file. No text has such a character there.
_POSTSCRIPT = range(14, 32)


def binary_format(head: bytes, tail: bytes) -> str | None:
    """Return the binary format of a file by its first and last bytes; None if it may be text.

    Sources: the specifications of Parquet (`PAR1` at both ends), ORC (`ORC` at the beginning and before the last byte),
    Avro, Hadoop's SequenceFile, and the compressors. Letters at the beginning are not enough: a line of text may begin
    with them.
    """
    if head[:4] == tail[-4:] in (b"PAR1", b"PARE"):
        return "Parquet"
    if head[:3] == tail[-4:-1] == b"ORC" and tail[-1] in _POSTSCRIPT:
        return "ORC"
    if head[:3] == b"SEQ" and head[3:4] and head[3] in _VERSIONS:
        return "sequences"
    if head[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if head[:1] == b"\x78" and head[1:2] in _ZLIB_LEVELS:
        return "zlib"
    if head[:3] == b"BZh" and head[3:4] and head[3] in _BZIP2 and head[4:8] == b"1AY&":
        return "bzip2"
    return _MAGIC_BYTES.get(head[:4])
