"""The metastore's errors as the jobs' own: one line, with the cause that lies at the bottom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import root_cause, with_cause
from spark_jobs.core.errors import LakekeeperError

#: What an error says of a metastore that does not answer.
_CONNECTION = ("TTransportException", "ConnectException", "SocketException", "SocketTimeoutException")


class MetastoreError(LakekeeperError):
    """The metastore did not answer, or refused; nothing may be concluded from its silence."""


@contextmanager
def metastore_errors(what: str, uris: str = "") -> Iterator[None]:
    """Fails closed: an error is never read as 'there is none'. `uris` is where the metastore should be."""
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
    """With what lies at the bottom: on top, Hive says of a server that is down that a class cannot be instantiated."""
    lost = any(sign in " ".join(root_cause(error)) for sign in _CONNECTION)
    message = with_cause(message, error)
    return f"{message} (the Hive Metastore at {uris})" if lost and uris else message
