"""The proof that a file is plain text, before its lines are touched.

Hadoop chooses a codec by the extension of a file. A file of a codec that this Spark lacks looks like one without a
codec, and its bytes would be taken for lines. So a file is text only if its bytes are text at its beginning,
in its middle and at its end. Compressed and encrypted bytes are nearly random: 7 in 100 are control characters that
text does not have, and half of them are no UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence

#: The bytes to be read at each of the three places.
SAMPLE = 1024
#: Control characters that lines of text have: tabs, line ends, form feeds, and the delimiters of Hive's SerDes
#: (1 to 8 by default, and the separators of ASCII, 28 to 31).
_IN_TEXT = {*range(1, 11), 12, 13, *range(28, 32)}
_CONTROLS = bytes(byte for byte in (*range(32), 127) if byte not in _IN_TEXT)
#: At most one byte in this many is a control character; old programs write zero bytes.
_BYTES_FOR_A_CONTROL = 50
#: At most one byte in this many is part of no UTF-8 character: letters of Latin-1 among others. Of a few bytes, random
#: ones may look like that too.
_BYTES_FOR_A_STRANGER, _BYTES_OF_FEW = 5, 8
_FEW = 64


def why_not_text(samples: Sequence[bytes]) -> str | None:
    """Return why the samples of a file are not text in any ASCII-compatible encoding; None if they are."""
    if samples and samples[0][:1] == b"\0":
        return "it begins with a zero byte, as the blocks of Hadoop's codecs do"
    for sample in samples:
        controls = sum(sample.count(byte) for byte in _CONTROLS)
        if controls * _BYTES_FOR_A_CONTROL > len(sample):  # guard: text_has_few_controls
            return f"{controls} of {len(sample)} bytes are control characters that text does not have"
    return None


def why_not_utf8(samples: Sequence[bytes]) -> str | None:
    """Return why the samples of a file are not text in UTF-8; None if they are, but for a few bytes."""
    for sample in samples:
        strangers = _strangers(sample)
        bytes_for_one = _BYTES_OF_FEW if len(sample) < _FEW else _BYTES_FOR_A_STRANGER
        if strangers * bytes_for_one > len(sample):  # guard: text_is_utf8
            return f"{strangers} of {len(sample)} bytes are not UTF-8"
    return None


def _strangers(sample: bytes) -> int:
    """Return the number of bytes that are part of no UTF-8 character; also those cut at an end."""
    text = sample.decode("utf-8", "surrogateescape")
    return sum("\udc80" <= character <= "\udcff" for character in text)
