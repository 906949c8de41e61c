"""Names and values in the statements that other engines are sent, and in those that a person is told to run."""

from __future__ import annotations

import re

_NAME = re.compile(r"[\w$-]+")
#: A name or a literal in quotes, without any that are escaped.
_QUOTED_PART = re.compile(r"""'[^'"`\\]*'(?!')|`[^'"`\\]*`(?!`)""")
#: On what a shell for SQL acts wherever it stands: variables, ends of statements, comments, and quotes that end.
_ACTED_ON = re.compile(r"""[;'"`\\]|\$\{|--|/\*""")


def impala_name(name: str) -> str:
    """Return a name in Impala's quotes, which have no escape.

    Raises:
        ValueError: it has a quote, or a control character
    """
    if "`" in name or not name.isprintable():  # guard: quoted_names_only
        raise ValueError(f"the name {name!r} cannot be quoted")
    return f"`{name}`"


def impala_literal(value: str) -> str:
    """Return a literal of Impala's SQL, which has escapes with backslashes."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"  # guard: literals_of_impala


def standard_literal(value: str) -> str:
    """Return a literal of standard SQL."""
    return "'" + value.replace("'", "''") + "'"  # guard: literals_of_standard_sql


def plain_name(name: str) -> str:
    """Return a name as it stands in the statement of a user, who may have quoted it in any way.

    Raises:
        ValueError: it has other characters than letters, digits, ``_``, ``-`` and ``$``, or begins a comment
    """
    if not _NAME.fullmatch(name) or "--" in name:  # guard: plain_names_only
        raise ValueError(f"the name {name!r} cannot stand in a statement: its characters could be SQL")
    return name


def may_be_pasted(statement: str) -> bool:
    """Tell whether a shell for SQL runs a statement with names and literals in quotes as it stands.

    Without the quotes around it, no name or value may have a character on which a shell acts: impala-shell replaces
    variables in literals, and Beeline ends statements in them.
    """
    parts = _QUOTED_PART.sub(lambda part: part[0][1:-1], statement)
    return statement.isprintable() and not _ACTED_ON.search(parts)
