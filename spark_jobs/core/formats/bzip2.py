"""The end of a file of bzip2, which Hadoop's reader does not miss where a file is cut off between two blocks.

A stream ends with the square root of pi in BCD (six bytes), then with a checksum. Neither begins at a whole byte.
"""

from __future__ import annotations

_END_MARK = bytes.fromhex("177245385090")
#: So many bytes at the end of a file are looked at: what follows the last stream is no data.
TAIL = 4096


def is_complete(tail: bytes) -> bool:
    """Tell whether a stream of bzip2 ends in the last bytes of a file, of which there are `TAIL` or all."""
    bits = int.from_bytes(tail, "big")
    return any(_END_MARK in (bits >> shift).to_bytes(len(tail), "big") for shift in range(8))
