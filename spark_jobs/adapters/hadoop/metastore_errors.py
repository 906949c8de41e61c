"""Translates errors of the metastore into errors of the jobs: one line, with the first cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.adapters.hadoop.java_errors import (
    cause_classes,
    is_java_error,
    message_of,
    root_cause,
    with_cause,
)
from spark_jobs.core.messages.errors import LakekeeperError

#: Exceptions that show that the metastore does not answer.
_CONNECTION = ("TTransportException", "ConnectException", "SocketException", "SocketTimeoutException")
#: The packages of the exceptions of the metastore and of the connection to it. Others are raised by Spark, or by Hive
#: in the driver, about what the metastore has answered.
_SERVER = ("org.apache.hadoop.hive.metastore.api.", "org.apache.thrift.", "java.net.", "java.io.")


class MetastoreError(LakekeeperError):
    """The metastore did not answer, or refused the call. This never means that a table does not exist.

    Attributes:
        answered: the metastore has answered, but the driver cannot understand what it has. A retry changes nothing.
    """

    def __init__(self, message: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.answered = answered


@contextmanager
def metastore_errors(what: str, uris: str = "") -> Iterator[None]:
    """Translate errors of the metastore.

    Args:
        what: what failed, for the message.
        uris: the URIs of the metastore, for the message.
    """
    try:
        yield
    except Exception as error:
        if not is_java_error(error):
            raise
        text = f"{what}: {_explained(message_of(error), error, uris)}"
        raise MetastoreError(text, answered=_answered(error)) from None


def _answered(error: Exception) -> bool:
    classes = cause_classes(error)
    return bool(classes) and not any(name.startswith(_SERVER) for name in classes)


def _explained(message: str, error: Exception, uris: str) -> str:
    """Return the message with its first cause.

    If the server is down, Hive's own message says only that a class cannot be created. So its URIs are added.
    """
    lost = any(sign in " ".join(root_cause(error)) for sign in _CONNECTION)
    message = with_cause(message, error)
    return f"{message} (the Hive Metastore at {uris})" if lost and uris else message
