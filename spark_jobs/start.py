"""Start a job if this Python and this Spark can run it; otherwise say what was started, and what to set.

Any Python can read this file, so that an old one can say what it lacks: it has neither annotations nor f-strings.
"""

import os
import sys

PYTHON, SPARK = (3, 9), (3, 3)


def start(verb, words, description):  # type: (str, list[str], str | None) -> int
    """Run the job of a verb, and return its exit code."""
    check(verb + ".py")
    from spark_jobs.verbs.main import main

    return main(verb, words, description or "")


def check(program):  # type: (str) -> None
    """End this process with exit code 2 if Spark or Python is missing, or too old. Spark is looked at first.

    On a cluster with two Sparks it is the older one that brings an older Python.
    """
    try:
        import pyspark
    except ImportError:
        fail(program, "there is no Spark here: start it with spark-submit")
    if numbers(pyspark.__version__) < SPARK:
        fail(
            program,
            "it needs Spark %s or later, and this is Spark %s in %s. Where a cluster has several ones, the newer one is"
            " often started by spark3-submit: in Airflow, set spark_binary: spark3-submit"
            % (
                dotted(SPARK),
                pyspark.__version__,
                os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__),
            ),
        )
    if sys.version_info[:2] < PYTHON:
        fail(
            program,
            "it needs Python %s or later, and %s is Python %s. Set spark.pyspark.python (and in client mode"
            " PYSPARK_DRIVER_PYTHON) to a newer one, such as one in --archives"
            % (dotted(PYTHON), sys.executable, dotted(sys.version_info[:3])),
        )


def numbers(version):  # type: (str) -> tuple[int, ...]
    """Return the first two numbers of a version."""
    return tuple(int(part) for part in version.split(".")[:2])


def dotted(version):  # type: (tuple[int, ...]) -> str
    return ".".join(str(part) for part in version)


def fail(program, message):  # type: (str, str) -> None
    sys.stderr.write(program + ": error: " + message + "\n")
    sys.exit(2)
