"""Translates Java exceptions into Python exceptions, so that other modules need not know them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    Py4JJavaError,
    get_command_part,
    get_return_value,
)

from spark_jobs.adapters.hadoop.named_settings import with_setting
from spark_jobs.protocol.file_system import FileSystemError

#: The Python exception for each Java exception. Any other one becomes FileSystemError.
_ERRORS: dict[str, type[OSError]] = {
    "java.io.FileNotFoundException": FileNotFoundError,
    "java.nio.file.NoSuchFileException": FileNotFoundError,
    "org.apache.hadoop.fs.FileAlreadyExistsException": FileExistsError,
    # The file exists, and its writer has not closed it yet.
    "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException": FileExistsError,
    "org.apache.hadoop.fs.ParentNotDirectoryException": NotADirectoryError,
    "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException": FileExistsError,
    "org.apache.hadoop.security.AccessControlException": PermissionError,
    "java.nio.file.AccessDeniedException": PermissionError,
}
#: How Java says so of a file on a local disk, by the class of a file that does not exist.
_DENIED = "(Permission denied)"
#: A status in an error of parquet-java. Made of path and length, it has an owner and a mode that the file has not.
_STATUS = re.compile(r"\w*FileStatus\{path=([^;]*);[^}]*\}")
#: A chain of causes may be a circle.
_MOST_CAUSES = 50
#: Errors whose message is the name of a class, and nothing else.
_NO_CLASS = ("NoClassDefFoundError", "ClassNotFoundException")
_WRAPPED = "org.apache.hadoop.ipc.RemoteException"


@contextmanager
def java_errors(what: str) -> Iterator[None]:
    """Translate a Java exception into a Python exception with one line of text.

    Args:
        what: what has failed, for the message. The reason and the first cause follow it.
    """
    try:
        yield
    except Exception as error:
        if not is_java_error(error):
            raise
        java = _java_exception(error)
        kind = kind_of(java) if java is not None else ""
        message = message_of(error)
        if kind not in _ERRORS:
            message = with_cause(message, error)
        raise error_class(kind, message)(f"{what}: {message}") from None


def error_class(kind: str, message: str) -> type[OSError]:
    """Return the class of Python's exception for one of Java with this class and message."""
    return PermissionError if message.endswith(_DENIED) else _ERRORS.get(kind, FileSystemError)


def is_java_error(error: Exception) -> bool:
    """Tell whether an error is one of Java: py4j's own, or one of the classes into which PySpark converts some."""
    return isinstance(error, Py4JJavaError) or type(error).__module__.startswith("pyspark.")


def message_of(error: Exception) -> str:
    """Return the message of an error of Java in one line, without its traceback; its class if it has none."""
    java = _java_exception(error)
    if java is None:
        return first_line(str(error))
    kind = kind_of(java)
    if kind.endswith(_NO_CLASS):
        return f"{kind}: {first_line(java.getMessage() or '')}"
    return with_setting(first_line(java.getMessage() or "")) or kind


def _java_exception(error: Exception) -> Any | None:
    return error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)


def call(target: Any, method: str, *args: Any) -> Any:
    """Call a method of a Java object. For calls that often fail, for example because a file does not exist.

    For each Java exception, PySpark asks about ten times of which class it is (`capture_sql_exception`), which is
    thirty round trips to the JVM. Here only py4j's own Py4JJavaError is raised.
    """
    command = "".join(get_command_part(arg) for arg in args)
    client, name = target._gateway_client, f"{target._target_id}\n{method}\n"
    answer = client.send_command(CALL_COMMAND_NAME + name + command + END_COMMAND_PART)
    return get_return_value(answer, client, target._target_id, method)


def kind_of(java: Any) -> str:
    """Return the exception's class; for a wrapped exception of a server, the class that it had there."""
    name = str(java.getClass().getName())
    return str(java.getClassName()) if name == _WRAPPED else name


def with_cause(message: str, error: Exception) -> str:
    """Return the message with the first cause, unless the message contains it."""
    kind, cause = root_cause(error)
    cause = cause or kind
    return message if cause in message else f"{message}: {cause}"


def root_cause(error: Exception) -> tuple[str, str]:
    """Return the class and the first line of the first cause of an error, also of PySpark's own error classes."""
    chain = causes(error)
    if not chain:
        return type(error).__name__, first_line(str(error))
    return kind_of(chain[-1]), with_setting(first_line(chain[-1].getMessage() or ""))


def cause_classes(error: Exception) -> list[str]:
    """Return the classes of an error of Java and of all its causes, the first cause last."""
    return [kind_of(java) for java in causes(error)]


def causes(error: Exception) -> list[Any]:
    """Return an error of Java and its causes, the first cause last; nothing for an error that is none of Java."""
    chain: list[Any] = []
    java = _java_exception(error)
    while java is not None and len(chain) < _MOST_CAUSES:
        chain.append(java)
        java = java.getCause()
    return chain


def first_line(text: str) -> str:
    """Return the first line of a message that is not empty, at most 500 characters of it."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _STATUS.sub(r"\1", line)[:500]
