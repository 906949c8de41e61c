"""The test suites: what each runs, in which environment, and how it shares the machine with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demo.services import paths
from tests.harness.job_runner import Lane

JOBS_UNIT = "tests/unit/core"

#: What a Spark asks of a metastore depends on its version, more than what it asks of HDFS.
METASTORE = tuple(f"tests/cluster/{name}.py" for name in ("test_metastore", "test_metastore_down"))


#: The longest ones of the crash tests, beside which the others run.
LATE = tuple(f"tests/crash/{name}.py" for name in ("test_exhaustive_late", "test_fuzzed_journals"))
#: A fault at every step of a verb.
STEPS = tuple(f"tests/crash/{name}.py" for name in ("test_check_beside_jobs", "test_exhaustive_crashes"))
#: Another program beside every step.
BESIDE = tuple(
    f"tests/crash/{name}.py"
    for name in ("test_copied_tables", "test_discovery", "test_exhaustive_writers", "test_exhaustive_zombies")
)
#: What one more process of the crash tests takes: the verb check, and the folding of settled runs.
RUNS = tuple(
    f"tests/crash/{name}.py"
    for name in (
        "test_check",
        "test_check_sound",
        "test_exhaustive_folding",
        "test_folding",
        "test_growth",
        "test_settled_record",
    )
)


#: The adapters of Hadoop and Spark, without a verb around them.
ADAPTERS = tuple(
    f"tests/spark/{name}.py"
    for name in (
        "test_exact_reading",
        "test_footers",
        "test_java_classes",
        "test_java_connections",
        "test_joint_writes",
        "test_kept_footers",
        "test_listings",
        "test_namenode_calls",
        "test_seam",
        "test_task_progress",
        "test_unknown_attributes",
        "test_wide_reading",
    )
)
#: It starts a Spark of its own, and these suites have the time.
WITH_ADAPTERS = (*ADAPTERS, "tests/spark/test_hostile_verbs.py")


#: What Arrow must keep too. It depends on Spark's version only by who reads and writes the bytes.
BY_ARROW = tuple(
    f"tests/fidelity/{name}.py" for name in ("test_matrix", "test_public_files", "test_evolution")
)


#: The stacks of a test that hangs are dumped later: it may be one that has to wait for a processor.
_PATIENT = ("-o", "faulthandler_timeout=1800")


def _without(files: Sequence[str]) -> tuple[str, ...]:
    """pytest's options that leave these out."""
    return tuple(word for file in files for word in ("--ignore", file))


@dataclass(frozen=True)
class Suite:
    """One pytest run.

    Attributes:
        group: those that a `make` target asks for together.
        env: the environment below .envs/ whose Python runs it.
        folders: what pytest collects.
        options: more arguments of pytest.
        needs: what the machine must have besides Python and Java (`needs`).
        lane: how it shares the machine (`job_runner.Lane`).
        limit: seconds after which it is stopped and has failed; several times what it takes on a busy machine.
    """

    name: str
    group: str
    env: str
    folders: tuple[str, ...]
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    lane: Lane = Lane.COMPUTE
    limit: float = 2400

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")


SUITES = (
    Suite("harness", "unit", "spark-3.5", ("tests/harness",)),
    Suite("unit jobs", "unit", "spark-3.5", (JOBS_UNIT,)),
    Suite("unit provider", "unit", "airflow-3.3", ("tests/unit", "tests/contract"), ("--ignore", JOBS_UNIT)),
    # One thread of pure Python each: they take what the others leave of the processors.
    Suite(
        "crash",
        "crash",
        "spark-3.5",
        ("tests/crash",),
        _without((*LATE, *RUNS, *STEPS, *BESIDE)),
        lane=Lane.BACKGROUND,
        limit=3600,
    ),
    Suite("crash steps", "crash", "spark-3.5", STEPS, lane=Lane.BACKGROUND, limit=5400),
    Suite("crash beside", "crash", "spark-3.5", BESIDE, lane=Lane.BACKGROUND, limit=5400),
    Suite("crash runs", "crash", "spark-3.5", RUNS, lane=Lane.BACKGROUND, limit=5400),
    # Some of its tests compute for two minutes, and may get a fifth of a processor.
    Suite("crash late", "crash", "spark-3.5", LATE, _PATIENT, lane=Lane.BACKGROUND, limit=5400),
    Suite("mutation", "mutation", "spark-3.5", ("tests/mutation",), lane=Lane.BACKGROUND, limit=5400),
    Suite("spark 3.5", "spark", "spark-3.5", ("tests/spark",), _without(WITH_ADAPTERS), limit=4800),
    Suite("spark 3.5 adapters", "spark", "spark-3.5", WITH_ADAPTERS),
    Suite("spark 4.3", "spark", "spark-4.3", ("tests/spark",), _without(WITH_ADAPTERS), limit=4800),
    Suite("spark 4.3 adapters", "spark", "spark-4.3", WITH_ADAPTERS),
    Suite("spark 3.3 smoke", "spark", "spark-3.3", ("tests/spark",), ("-m", "smoke")),
    Suite("fidelity 3.5", "spark", "spark-3.5", ("tests/fidelity",)),
    Suite("fidelity 4.3", "spark", "spark-4.3", ("tests/fidelity",)),
    Suite("fidelity 3.5 arrow", "spark", "spark-3.5", BY_ARROW, ("--engine", "arrow")),
    Suite("soak", "spark", "spark-3.5", ("tests/soak",)),
    Suite("sweep", "spark", "spark-3.5", ("tests/sweep",)),
    Suite(
        "cluster", "cluster", "spark-3.5", ("tests/cluster",), needs=("jars",), lane=Lane.SERVERS, limit=5400
    ),
    Suite("cluster 4.3", "cluster", "spark-4.3", METASTORE, needs=("jars",), lane=Lane.SERVERS),
    Suite(
        "kerberos",
        "cluster",
        "airflow-3.3",
        ("tests/kerberos",),
        needs=("jars", "kerberos"),
        lane=Lane.SERVERS,
        limit=3600,
    ),
    Suite("engines", "engines", "spark-3.5", ("tests/engines",), needs=("engines",), limit=5400),
    Suite("native formats", "engines", "spark-3.5", ("tests/native",), needs=("engines",), limit=4800),
    Suite(
        "native night",
        "engines",
        "airflow-3.3",
        ("tests/night",),
        needs=("engines",),
        lane=Lane.LATENCY,
        limit=3600,
    ),
    Suite("airflow 3.3", "airflow", "airflow-3.3", ("tests/airflow",), lane=Lane.LATENCY, limit=4800),
    Suite("airflow 2.11", "airflow", "airflow-2.11", ("tests/airflow",), ("-m", "not live")),
    Suite("demo", "demo", "spark-3.5", ("tests/demo",), lane=Lane.LATENCY, limit=3600),
)


def _mypy(env: str, package: str) -> tuple[str, ...]:
    """Return a check of one program in an environment that has the libraries that it calls, with their annotations."""
    python = str(paths.env_python(env))
    return ("mypy", "--python-executable", python, "--cache-dir", f".mypy_cache/{env}", "-p", package)


#: Programs of the environment `dev`, but for those of `_ELSEWHERE`.
LINT = {
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
    "import-linter": ("lint-imports", "--no-cache"),
    "mypy provider": _mypy("airflow-3.3", "lakekeeper_provider"),
    "mypy jobs": _mypy("spark-3.5", "spark_jobs"),
    "workflows": (
        *("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ".github/workflows/tests.yml",
    ),
    "mkdocs": ("mkdocs", "build", "--strict", "--quiet", "--site-dir", ".scratch/site"),
}
_ELSEWHERE = {"mkdocs": "docs"}

#: The environments of `LINT`.
LINTED = ("dev", "spark-3.5", "airflow-3.3", "docs")


def env_of_lint(name: str) -> str:
    """Return the environment that has a program of `LINT`."""
    return _ELSEWHERE.get(name, "dev")


GROUPS = ("lint", "unit", "crash", "mutation", "spark", "cluster", "engines", "airflow", "demo")

#: Environments that a suite starts programs of, besides the one that it runs in.
_ALSO = {"airflow": ("spark-3.5",), "cluster": ("spark-3.5", "airflow-3.3"), "demo": ("airflow-3.3",)}
_MORE = {
    "fidelity 3.5": ("writers-python",),
    "fidelity 4.3": ("spark-3.5", "writers-python"),
    "kerberos": ("airflow-3.3-kerberos",),
    "engines": ("writers-python",),
    # It has neither PySpark nor py4j.
    "unit jobs": ("dev",),
    # It formats a copy of the product, to see that no mutation loses its place, and runs tests of the provider.
    "mutation": ("dev", "airflow-3.3"),
}


#: Environments without which a suite leaves a part of its tests out.
_BETTER = {"fidelity 3.5": ("spark-4.3",), "fidelity 3.5 arrow": ("spark-4.3",)}
#: The same of the tests that only `make test-all` runs; the default set does without these environments.
_BETTER_OF_ALL = {"engines": ("spark-4.3", "engines-python")}


def environments_of(suite: Suite) -> tuple[str, ...]:
    """Return all environments that this suite uses, its own first. A metastore runs on the default Spark's jars."""
    also = (*_ALSO.get(suite.group, ()), *_MORE.get(suite.name, ()), "spark-3.5")
    return tuple(dict.fromkeys((suite.env, *also)))


def optional_environments_of(suite: Suite, test_set: str = "all") -> tuple[str, ...]:
    """Return the environments that this suite uses where the machine can have them."""
    return _BETTER.get(suite.name, ()) + (_BETTER_OF_ALL.get(suite.name, ()) if test_set == "all" else ())


def chosen(groups: Sequence[str]) -> list[Suite]:
    return [suite for suite in SUITES if suite.group in groups]
