"""Translates errors of the metastore into errors of the jobs: one line, with the first cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import root_cause, with_cause
from spark_jobs.core.errors import LakekeeperError

#: Exceptions that show that the metastore does not answer.
_CONNECTION = ("TTransportException", "ConnectException", "SocketException", "SocketTimeoutException")


class MetastoreError(LakekeeperError):
    """The metastore did not answer, or refused the call. This never means that a table does not exist."""


@contextmanager
def metastore_errors(what: str, uris: str = "") -> Iterator[None]:
    """Translate errors of the metastore.

    Args:
        what: what failed, for the message.
        uris: the URIs of the metastore, for the message.
    """
    try:
        yield
    except Py4JJavaError as error:
        message = (
            error.java_exception.getMessage() or error.java_exception.getClass().getName()
        ).splitlines()[0]
        raise MetastoreError(f"{what}: {_explained(message, error, uris)}") from None
    except Exception as error:
        if type(error).__module__.startswith("pyspark"):
            message = str(error).splitlines()[0]
            raise MetastoreError(f"{what}: {_explained(message, error, uris)}") from None
        raise


def _explained(message: str, error: Exception, uris: str) -> str:
    """Return the message with its first cause.

    If the server is down, Hive's own message says only that a class cannot be created. So its URIs are added.
    """
    lost = any(sign in " ".join(root_cause(error)) for sign in _CONNECTION)
    message = with_cause(message, error)
    return f"{message} (the Hive Metastore at {uris})" if lost and uris else message
