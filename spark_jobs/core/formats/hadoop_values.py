"""Texts that become values of a Hadoop configuration.

`Configuration.get` replaces `${name}` by the setting, the system property or the environment variable of that name,
and there is no escape. A text of a table, a file or a directory would come back with a secret of the job in it, in the
files that are written, or in the message of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

_VARIABLE = re.compile(r"\$\{[^}]*\}?")


def is_literal(text: str) -> bool:
    """Tell whether a Hadoop configuration gives a text back as it is."""
    return "${" not in text  # guard: variables_of_hadoop


def variable_in(schemas: Iterable[str]) -> Refusal | None:
    """Return why files of these schemas cannot be read and written by Spark; None if they can.

    Spark hands a schema to the readers and writers of a format as a value of a Hadoop configuration. So a value would
    stand for the name of a column in the files, and columns would be read as null, because no column has that name.
    """
    variable = next((match for schema in schemas if (match := _VARIABLE.search(schema))), None)
    if variable is None:
        return None
    return Refusal(
        RefusalCode.VARIABLE,
        f"the name of a column, or of a field of one, has {variable[0]}, which Hadoop would replace by a setting",
    )
