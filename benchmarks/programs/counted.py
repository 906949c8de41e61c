"""Run one of our jobs, and count the calls from Python to the JVM.

CALLS=FILE spark-submit counted.py /path/to/spark_jobs/compact.py --table DB.T ...
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from itertools import count
from pathlib import Path
from typing import Any

from py4j import clientserver, java_gateway

_numbers = count()


def _counted(connection: Any) -> None:
    """Count each command that a connection sends."""
    send = connection.send_command

    def send_command(self: Any, *arguments: Any, **more: Any) -> Any:
        next(_numbers)
        return send(self, *arguments, **more)

    connection.send_command = send_command


# The one where threads of Python have threads of the JVM of their own, which is Spark's default; and the other.
_counted(clientserver.ClientServerConnection)
_counted(java_gateway.GatewayConnection)
atexit.register(lambda: Path(os.environ["CALLS"]).write_text(str(next(_numbers))))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
