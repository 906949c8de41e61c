"""The formats of files by their magic bytes."""

from __future__ import annotations

#: What no line of text holds: sequence files and RCFiles have their version after the name.
_HEADS = {
    b"Obj\x01": "Avro",
    b"RCF\x01": "RCFile",
    b"PK\x03\x04": "ZIP",
    b"(\xb5/\xfd": "Zstandard",
    b"\xfd7zX": "XZ",
}
_BZIP2 = range(ord("1"), ord("9") + 1)
_VERSIONS = range(1, 10)
#: How long an ORC postscript is, in its last byte: no character of any text.
_POSTSCRIPT = range(14, 32)


def binary_format(head: bytes, tail: bytes) -> str | None:
    """The binary format of a file, by its first and its last bytes; None for what may be text.

    Sources: the specifications of Parquet (`PAR1` at both ends), ORC (`ORC` first, and before the last byte), Avro,
    Hadoop's SequenceFile, and the compressors. Letters at the beginning alone prove nothing: a line may begin so.
    """
    if head[:4] == tail[-4:] in (b"PAR1", b"PARE"):
        return "Parquet"
    if head[:3] == tail[-4:-1] == b"ORC" and tail[-1] in _POSTSCRIPT:
        return "ORC"
    if head[:3] == b"SEQ" and head[3:4] and head[3] in _VERSIONS:
        return "sequences"
    if head[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if head[:3] == b"BZh" and head[3:4] and head[3] in _BZIP2 and head[4:8] == b"1AY&":
        return "bzip2"
    return _HEADS.get(head[:4])
