"""Where jobs of a shell run, and whether Spark finds the configuration of the cluster there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lakekeeper_provider.doctor.checks import Check, Desk

#: The variables in which Spark looks for the configuration of YARN, in its order.
VARIABLES = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
#: Where distributions of Hadoop have it.
_USUAL = Path("/etc/hadoop/conf")
_EXPORT = (
    f"export {VARIABLES[0]}=DIRECTORY, the one with the cluster's core-site.xml and yarn-site.xml ({_USUAL})"
)


def without_configuration(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Return what to do about a job on YARN whose Spark may not have found the cluster; None if that is no reason."""
    if "yarn" not in command or _named(environ):
        return None
    return f"with the master yarn, Spark asks for {VARIABLES[0]}: {_EXPORT}"


def master(desk: Desk, master: str, environ: Mapping[str, str]) -> Check:
    """Tell where jobs run, and look for the configuration of the cluster.

    Args:
        master: the one of the jobs of this shell
    """
    tried, configured = "ask where jobs run", _named(environ)
    if master == "yarn" and not configured:
        # Not bad: spark-env.sh may set the variable for spark-submit.
        return desk.advice("master", tried, f"on YARN, and {VARIABLES[0]} is not set here", _EXPORT)
    if master.startswith("local") and (configured or _USUAL.is_dir()):
        return desk.advice(
            "master",
            tried,
            f"on this machine ({master}), although it has the configuration of a cluster",
            "Set spark_submit: {enabled: true, master: yarn} in the configuration file, and name it by -c",
        )
    return desk.good("master", tried, "on this machine" if master.startswith("local") else f"on {master}")


def _named(environ: Mapping[str, str]) -> str | None:
    return next(filter(None, map(environ.get, VARIABLES)), None)
