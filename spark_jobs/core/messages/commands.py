"""Words of the commands that messages tell a person to paste.

A path or a name is part of a table, and whoever may create one chooses its characters. So each is quoted here, for the
shell, and for Hadoop's own shell, which takes a path for a pattern. For SQL statements see `ddl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Where a command moves what is in the way; a person has to choose.
AWAY = "<a directory outside the table>"
_PLAIN = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]*\Z", re.ASCII)
#: The characters of a pattern of Hadoop's shell, with the one that escapes them.
_PATTERN = re.compile(r"([\\*?\[\]{}])")


def word(text: str) -> str:
    """Return a text as one word of a shell. It is not quoted where it is the same without."""
    return text if _PLAIN.match(text) else quoted(text)  # guard: words_quoted


def quoted(text: str) -> str:
    """Return a text as one word of a shell, in quotes.

    In `'...'` a shell interprets nothing. What cannot be seen, or would end the line, is written as bash's `$'...'`.
    """
    # An argument cannot have a zero byte: the shell would cut the path off there, and the command would be on another.
    text = text.replace("\0", "\N{SYMBOL FOR NULL}")  # guard: no_word_is_cut_off
    if text.isprintable():  # guard: unseen_characters_of_words
        return "'" + text.replace("'", "'\\''") + "'"  # guard: shell_quoting
    return "$'" + "".join(map(_in_ansi, text)) + "'"


def _in_ansi(char: str) -> str:
    if char in "\\'":  # guard: quotes_in_ansi
        return f"\\{char}"
    if char.isprintable():
        return char
    # By bytes, because bash writes other escapes in the encoding of its locale.
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def hdfs_path(path: str, pattern: str = "") -> str:
    """Return a path as a word of `hdfs dfs`, which names this path only.

    Args:
        pattern: what follows the path, and is a pattern.
    """
    return quoted(_PATTERN.sub(r"\\\1", path) + pattern)  # guard: hadoop_pattern_quoting


def hdfs_paths(paths: Iterable[str]) -> str:
    return " ".join(map(hdfs_path, paths))
