"""The Java programs of this folder, which the compiler that Spark ships compiles at each start: a runtime has none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from demo.services.java import java_command
from demo.services.metastore import compiler

_FOLDER = Path(__file__).with_name("java")
#: What the engines reach into by reflection, and Java 17 has closed.
_OPENED = (
    *(
        f"java.base/java.{name}"
        for name in ("io", "lang", "lang.invoke", "lang.reflect", "math", "net", "nio")
    ),
    *(f"java.base/java.{name}" for name in ("text", "time", "util", "util.concurrent", "util.regex")),
    "java.base/java.util.concurrent.atomic",
    *(f"java.base/sun.{name}" for name in ("nio.ch", "nio.cs", "security.action")),
    "java.sql/java.sql",
    "java.security.jgss/sun.security.krb5",
)


def command(
    program: str, arguments: Sequence[str], *, options: Sequence[str], path: Sequence[str] = ()
) -> list[str]:
    """Return the command that compiles and runs a program.

    Args:
        program: the name of its class and file.
        options: of Java.
        path: more places of the class path, after the compiler.
    """
    places = ":".join([*compiler(), *path])
    compiled = ["org.codehaus.janino.SimpleCompiler", str(_FOLDER / f"{program}.java"), program]
    return [java_command() or "java", *opened(), *options, "-cp", places, *compiled, *arguments]


def opened() -> list[str]:
    """Return the options that open what an engine reaches into."""
    return [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
