"""The detection of binary formats by magic bytes, and of codecs by file extensions."""

from __future__ import annotations

import re

#: First bytes that no line of text has. RCFiles, and sequence files (below), have their version after the name.
_MAGIC_BYTES = {
    b"Obj\x01": "Avro",
    b"RCF\x01": "RCFile",
    b"PK\x03\x04": "ZIP",
    b"(\xb5/\xfd": "Zstandard",
    b"\xfd7zX": "XZ",
    b"\x89LZO": "lzop",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\xff\x06\x00\x00": "Snappy",
    b"7z\xbc\xaf": "7-Zip",
    b"\x5d\x00\x00\x80": "LZMA",
}
#: The second byte of a zlib stream (RFC 1950) with the usual window; `x^` of the fourth level may begin a line of text.
_ZLIB_LEVELS = (b"\x01", b"\x9c", b"\xda")
_BZIP2 = range(ord("1"), ord("9") + 1)
_VERSIONS = range(1, 10)
#: The length of an ORC postscript, which is the last byte of the file. No text has such a character there.
_POSTSCRIPT = range(14, 32)
#: The file extensions of codecs, archives and ciphers. A codec of the cluster that this Spark lacks takes such a file
#: for something else than its bytes.
_EXTENSIONS = frozenset(
    {
        "gz",
        "gzip",
        "tgz",
        "bgz",
        "bz2",
        "tbz",
        "deflate",
        "zlib",
        "z",
        "lz",
        "lzo",
        "lzo_deflate",
        "lzop",
        "lz4",
    }
    | {"lzf", "lzma", "xz", "zst", "zstd", "br", "sz", "snappy", "snz", "qat", "4mc", "4mz", "cmx"}
    | {"zip", "7z", "rar", "jar", "tar", "gpg", "pgp", "enc", "encrypted", "aes", "crypt", "crypto", "p7m"}
)
_EXTENSION = re.compile(r"\.([^.]*)\Z")


def codec_extension(name: str) -> str | None:
    """Return the extension of a file name if it is one of a codec, an archive or a cipher."""
    match = _EXTENSION.search(name)
    return match[0] if match and match[1].lower() in _EXTENSIONS else None


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
    if head[:2] == b"\x1f\x9d":
        return "compress"
    if head[:1] == b"\x78" and head[1:2] in _ZLIB_LEVELS:
        return "zlib"
    if head[:3] == b"BZh" and head[3:4] and head[3] in _BZIP2 and head[4:8] == b"1AY&":
        return "bzip2"
    return _MAGIC_BYTES.get(head[:4])
