"""The folder of the benchmarks, the services that run in it, and spark-submit with their settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import Measured, measure
from demo.services import paths
from demo.services.folder_lock import folder_lock

SPARK = paths.DEFAULT_SPARK
LAKEKEEPER = "lakekeeper-0.0.6"
CHART = "bench"
PROGRAMS = Path(__file__).with_name("programs")
JOBS = paths.ROOT / "spark_jobs"

#: The same for all that are compared. Java has its own options: those of the demo are for short drivers.
SETTINGS = {"spark.driver.extraJavaOptions": "", "spark.driver.memory": "8g"}


@dataclass(frozen=True)
class Workspace:
    """The folder in which everything happens.

    `results` and `logs` stay; `data`, with the tables and the services' databases, is deleted at the end.
    """

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @contextmanager
    def opened(self, *, keep: bool) -> Iterator[Workspace]:
        """Lock the folder; at the end delete the data, unless they are kept for the next run."""
        with folder_lock(self.root, "another benchmark"):
            self.logs.mkdir(parents=True, exist_ok=True)
            self.data.mkdir(exist_ok=True)
            try:
                yield self
            finally:
                if not keep:
                    shutil.rmtree(self.data, ignore_errors=True)


@dataclass
class Submitter:
    """spark-submit with the environment of a service.

    Attributes:
        environ: all environment variables of the programs.
        logs: the folder for what they print.
        settings: what is added to the settings of all.
    """

    environ: Mapping[str, str]
    logs: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        label: str,
        script: Path,
        *arguments: str | Path,
        conf: Mapping[str, str] | None = None,
        python: str = SPARK,
        environ: Mapping[str, str] | None = None,
    ) -> Measured:
        """Run a script to its end, and measure it.

        Args:
            label: the name of its log.
            script: the program.
            arguments: its arguments.
            conf: settings of Spark for this run alone.
            python: the environment whose Python runs it.
            environ: additional environment variables.

        Raises:
            RunFailed: it ended with an error.
        """
        settings = {**self.settings, **(conf or {})}
        words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        python_path = str(paths.env_python(python))
        variables = {"PYSPARK_PYTHON": python_path, "PYSPARK_DRIVER_PYTHON": python_path}
        return measure(
            ["spark-submit", *words, script, *arguments],
            log=self.logs / f"{label}.log",
            env={**self.environ, **variables, **(environ or {})},
        )
