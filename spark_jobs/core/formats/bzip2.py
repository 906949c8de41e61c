"""The end of a file of bzip2, which Hadoop's reader does not miss where a file is cut off between two blocks.

A file is one stream or several, one after another. A stream has a header, blocks, the square root of pi in BCD (six
bytes) and a checksum. A block begins with pi in BCD. Neither mark begins at a whole byte.
"""

from __future__ import annotations

_BLOCK, _END = bytes.fromhex("314159265359"), bytes.fromhex("177245385090")
_CHECKSUM = 4
_HEADER = b"BZh"
#: This many bytes at the end of a file are looked at.
TAIL = 4096


def is_complete(tail: bytes) -> bool:
    """Tell whether the last stream of a file has its end in the last bytes, of which there are `TAIL` or all."""
    end = _last(_END, tail)
    if end is None or (_last(_BLOCK, tail) or 0) > end:
        return False
    behind = tail[(end + 7) // 8 + len(_END) + _CHECKSUM :]
    return not behind or not behind.startswith(_HEADER[: len(behind)])


def _last(mark: bytes, tail: bytes) -> int | None:
    """Return the bit in which a mark begins for the last time; None if it does not."""
    bits, size = int.from_bytes(tail, "big"), len(tail)
    places = ((bits >> shift).to_bytes(size, "big").rfind(mark) * 8 - shift for shift in range(8))
    return max((place for place in places if place >= 0), default=None)
