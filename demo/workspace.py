"""Where the demo keeps its things, and the environment of the Airflow that works there."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths
from demo.services.folder_lock import claimed
from demo.services.metastore import Metastore
from demo.services.ports import HOST
from demo.services.postgres import Postgres, binaries
from demo.services.spark_config import spark_environ

AIRFLOW = "airflow-3.3"
SPARK = "spark-3.5"
DAG = "lakekeeper_demo"


@dataclass(frozen=True)
class Place:
    """A scratch folder with a metastore's database and Airflow's, a warehouse, an Airflow home, and logs."""

    root: Path

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    @property
    def airflow_home(self) -> Path:
        return self.root / "airflow"

    @property
    def done(self) -> Path:
        """There once the demo has run: before that there is nothing to show."""
        return self.root / "done"

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Ours until the end: a second demo would wipe the first one's tables."""
        with claimed(self.root, "another demo"):
            yield

    def wipe(self) -> None:
        """Start over. Only a folder that we made is removed, whatever path was given."""
        if self.root.exists() and not self._marker.exists() and any(self.root.iterdir()):
            raise RuntimeError(f"{self.root} is not a folder of the demo; empty it, or choose another one")
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        self._marker.touch()

    @property
    def _marker(self) -> Path:
        return self.root / ".lakekeeper-demo"

    def log(self, name: str) -> Path:
        (self.root / "logs").mkdir(parents=True, exist_ok=True)
        return self.root / "logs" / f"{name}.log"

    def metastore(self) -> Metastore:
        return Metastore(self.root / "metastore")

    def spark_environ(self, metastore: Metastore) -> dict[str, str]:
        return spark_environ(SPARK, metastore.uri, self.root)

    def database(self) -> Postgres:
        """Airflow's own. `make up` shows in it what `make demo` ran."""
        return Postgres(self.root / "postgres", binaries(AIRFLOW))

    def airflow_environ(self, metastore: Metastore, database: Postgres) -> dict[str, str]:
        """Airflow, with its two connections leading here; Spark's part is for spark-submit."""
        return {
            **self.spark_environ(metastore),
            "AIRFLOW_HOME": str(self.airflow_home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(paths.ROOT / "example_dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database.sqlalchemy_url,
            "AIRFLOW__API_AUTH__JWT_SECRET": self._secret(),
            "AIRFLOW__API__SECRET_KEY": self._secret(),
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
            "AIRFLOW_CONN_METASTORE_DEFAULT": json.dumps(
                {"conn_type": "hive_metastore", "host": HOST, "port": metastore.port}
            ),
        }

    def _secret(self) -> str:
        """One for all of Airflow's processes, and kept, so that a reopened UI still knows its sessions."""
        kept = self.airflow_home / "secret"
        if not kept.exists():
            self.airflow_home.mkdir(parents=True, exist_ok=True)
            kept.touch(mode=0o600)
            kept.write_text(secrets.token_urlsafe(48))
        return kept.read_text()


def airflow_command(*arguments: str) -> list[str]:
    return [str(paths.env_dir(AIRFLOW) / "bin" / "airflow"), *arguments]


DEMO = Place(paths.SCRATCH / "demo")
