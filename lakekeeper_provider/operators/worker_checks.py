"""The checks of ``doctor`` that only a worker of Airflow can make: versions, pool, triggerer, report_dir."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from lakekeeper_provider import __version__
from lakekeeper_provider.compat import airflow_health
from lakekeeper_provider.doctor.checks import WORKER, Check, Desk
from lakekeeper_provider.submission.exchange import Exchange
from lakekeeper_provider.submission.spark_submit_adapter import CHECKED

DESK = Desk(WORKER)
_AIRFLOW, _SPARK, _JOBS = "apache-airflow", "apache-airflow-providers-apache-spark", "lakekeeper-hive-jobs"
_DEFAULT_POOL = "default_pool"


def provider() -> Check:
    """Compare the versions of what is installed beside this package."""
    tried, spark, jobs = "compare the versions of Airflow's providers", _version(_SPARK), _version(_JOBS)
    found = f"Lakekeeper {__version__}, Airflow {_version(_AIRFLOW)}, {_SPARK} {spark}"
    if jobs not in (None, __version__):
        action = f"Install {_JOBS}=={__version__}"
        return DESK.bad("provider", tried, f"{found}, but {_JOBS} {jobs}", action)
    if _version("pyspark") is not None:
        return DESK.advice(
            "provider",
            tried,
            f"{found}; and a full PySpark in Airflow's environment, which pyspark-client shares files with",
            "Install Spark in an environment of its own, and set SPARK_HOME",
        )
    if spark not in CHECKED:
        return DESK.advice(
            "provider",
            tried,
            f"{found}, on which this package was not tried",
            f"It was tried on {', '.join(CHECKED)}",
        )
    return DESK.good("provider", tried, found)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def pool(name: str) -> Check:
    """Tell in which pool the tasks are: it limits how many drivers run on the workers at once."""
    tried = "look at the pool of the task"
    if name == _DEFAULT_POOL:
        return DESK.advice(
            "pool",
            tried,
            f"{name}: as many drivers may run at once as all tasks together",
            "Make a pool with as many slots as drivers may run (airflow pools set lakekeeper 2 'Spark drivers'), and"
            ' give the operators pool="lakekeeper"',
        )
    return DESK.good("pool", tried, name)


def triggerer() -> Check:
    """Ask Airflow whether a triggerer is alive: without one, a task that waits for its window waits for ever."""
    tried = "ask Airflow for the health of its triggerer"
    try:
        status = (airflow_health().get("triggerer") or {}).get("status")
    except Exception as error:  # The page is a convenience, and may be anywhere.
        return DESK.not_asked(
            "triggerer", tried, f"Airflow's health page does not answer this worker: {error}"
        )
    if status == "healthy":
        return DESK.good("triggerer", tried, "it is alive")
    return DESK.bad(
        "triggerer",
        tried,
        "there is none" if status is None else f"it is {status}",
        "Start `airflow triggerer` as a service: a task that waits for its maintenance window waits for ever without"
        " one; or set on_closed to skip",
    )


def report_dir(directory: str | None, *, cluster: bool) -> Check:
    """Write to the directory of request and report, and read it back."""
    tried = f"write to {directory}, and read it" if directory else "look for report_dir"
    if not directory and not cluster:
        return DESK.not_asked("report_dir", tried, "none is set, and in client mode none is needed")
    action = "Name a directory that this worker and the driver both reach, such as webhdfs://namenode:9870/lakekeeper"
    if not directory:
        return DESK.bad("report_dir", tried, "deploy_mode is cluster, and none is set", action)
    try:
        Exchange(directory).probe()
    except Exception as error:
        return DESK.bad("report_dir", tried, f"{error}", action)
    return DESK.good("report_dir", tried, "this worker can do both")


def one_sided(uri: str | None) -> Check:
    """Return the check of a report that the driver has printed, but not left where this worker looks."""
    return DESK.bad(
        "report_dir",
        f"read the driver's report in {uri}",
        "the driver has ended, and this worker does not find its report there, or cannot read it: they do not reach the"
        " same directory",
        "Name a directory that both reach, such as webhdfs://namenode:9870/lakekeeper",
    )
