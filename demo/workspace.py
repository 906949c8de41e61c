"""Define the folder that the demo works in, and the environment variables of the Airflow that runs there."""

from __future__ import annotations

import json
import secrets
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths
from demo.services.folder_lock import folder_lock
from demo.services.metastore import Metastore
from demo.services.ports import HOST
from demo.services.postgres import Postgres, binaries
from demo.services.spark_config import spark_environ

AIRFLOW = "airflow-3.3"
SPARK = "spark-3.5"
DAG = "lakekeeper_demo"


@dataclass(frozen=True)
class Workspace:
    """A scratch folder with the databases of the metastore and of Airflow, a warehouse, an Airflow home, and logs."""

    root: Path

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    @property
    def airflow_home(self) -> Path:
        return self.root / "airflow"

    @property
    def completed(self) -> Path:
        """The file that exists after the demo has succeeded. Before that, the UI has nothing to show."""
        return self.root / "completed"

    def lock(self) -> AbstractContextManager[None]:
        """Lock the folder, because a second demo would delete the tables of the first one."""
        return folder_lock(self.root, "another demo")

    def clear(self) -> None:
        """Delete the content; raise RuntimeError if the demo did not create the folder."""
        if self.root.exists() and not self._marker.exists() and any(self.root.iterdir()):
            raise RuntimeError(
                f"{self.root} is not a folder of the demo: delete its content, or choose another folder"
            )
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        self._marker.touch()

    @property
    def _marker(self) -> Path:
        return self.root / ".lakekeeper-demo"

    def log(self, name: str) -> Path:
        """Return the path of a log, whose folder exists."""
        (self.root / "logs").mkdir(parents=True, exist_ok=True)
        return self.root / "logs" / f"{name}.log"

    def metastore(self) -> Metastore:
        return Metastore(self.root / "metastore")

    def spark_environ(self, metastore: Metastore) -> dict[str, str]:
        return spark_environ(SPARK, metastore.uri, self.root)

    def database(self) -> Postgres:
        """Return Airflow's database; `make up` shows in it what `make demo` ran."""
        return Postgres(self.root / "postgres", binaries(AIRFLOW))

    def airflow_environ(self, metastore: Metastore, database: Postgres) -> dict[str, str]:
        """Return the variables of Airflow and of the spark-submit that it starts, with connections to both services."""
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
        """Return one secret for all processes of Airflow. It is stored: sessions survive a restart of the UI."""
        file = self.airflow_home / "secret"
        if not file.exists():
            self.airflow_home.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(48))
        return file.read_text()


DEFAULT = Workspace(paths.SCRATCH / "demo")
