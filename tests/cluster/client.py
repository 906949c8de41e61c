"""Hadoop's own command line tools."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from demo.services.java import java_command
from demo.services.processes import own_environ
from tests.cluster import jars
from tests.cluster.server import opened

HDFS_DFS = ("org.apache.hadoop.fs.FsShell",)
HDFS_DFSADMIN = ("org.apache.hadoop.hdfs.tools.DFSAdmin",)
HDFS_FETCHDT = ("org.apache.hadoop.hdfs.tools.DelegationTokenFetcher",)
YARN_APPLICATION = ("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application")
#: Short lives, or little work: what the second compiler would make of the code comes too late for them.
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
#: Seconds after which a program hangs.
LIMIT = 300


def options(folder: Path, *libraries: str) -> list[str]:
    """Of every program of Hadoop: a small heap, and the configuration of the cluster in this folder."""
    places = (folder / "conf", f"{jars.HADOOP}/*", *libraries)
    return ["-Xmx256m", *JVM, "-cp", ":".join(map(str, places))]


def call(folder: Path, *command: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A class and its arguments, as whoever the environment says."""
    whole = [java_command() or "java", *opened(), *options(folder), *command]
    environ = {**own_environ(), **environ}
    return subprocess.run(whole, env=environ, cwd=folder, capture_output=True, text=True, timeout=LIMIT)


def must(folder: Path, *command: str, environ: Mapping[str, str]) -> str:
    """The same; returns what it prints, and raises RuntimeError where it fails."""
    done = call(folder, *command, environ=environ)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return done.stdout
