"""Texts that become values of a Hadoop configuration.

`Configuration.get` replaces `${name}` by the setting, the system property or the environment variable of that name,
and there is no escape. A text of a table, a file or a directory would come back with a secret of the job in it, in the
files that are written, or in the message of an error.
"""

from __future__ import annotations


def is_literal(text: str) -> bool:
    """Tell whether a Hadoop configuration gives a text back as it is."""
    return "${" not in text  # guard: variables_of_hadoop
