"""`make cluster`: a small cluster on this machine, until Ctrl-C; its folder is wiped afterwards."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType

from demo.services import environments, paths
from demo.services.machine import MachineError
from tests.cluster import client, jars, kerberos
from tests.cluster.cluster import Cluster
from tests.cluster.server import NotStarted
from tests.cluster.sites import USERS

FOLDER = paths.SCRATCH / "cluster"
_SPARK = paths.DEFAULT_SPARK
_EXAMPLES = f"""
# With these exported, for instance (python3 -m demo.services.environments {_SPARK} makes the Spark):
java $HADOOP_OPTS -cp "$HADOOP_CONF_DIR:{jars.HADOOP}/*" {client.HDFS_DFS[0]} -ls /
PATH={paths.env_dir(_SPARK)}/bin:$PATH spark-sql -e 'SHOW DATABASES'
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Run HDFS, YARN and a Hive Metastore on this machine.")
    parser.add_argument("--open", action="store_true", help="without Kerberos")
    parser.add_argument("--user", default="etl", choices=USERS, help="whose environment is printed")
    options = parser.parse_args()
    try:
        _serve(secure=not options.open, user=options.user)
    except (jars.NoJars, kerberos.NoKerberos, NotStarted, MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _serve(*, secure: bool, user: str) -> None:
    environments.ensure_java()
    signal.signal(signal.SIGTERM, _interrupt)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    started = time.monotonic()
    print("cluster: starting", flush=True)
    try:
        with Cluster(FOLDER, secure=secure, yarn=True) as cluster:
            print(f"cluster: ready after {time.monotonic() - started:.0f} s; Ctrl-C ends it, and wipes it\n")
            print(_exports(cluster.client(user)))
            print(_EXAMPLES, flush=True)
            signal.pause()
    except KeyboardInterrupt:
        print("cluster: stopped")
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _exports(environ: Mapping[str, str]) -> str:
    return "\n".join(f"export {name}={value}" for name, value in sorted(environ.items()))


if __name__ == "__main__":
    sys.exit(main())
