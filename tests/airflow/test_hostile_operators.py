"""Every operator over the texts of tables, on a worker with secrets: none of them gets out, and no text acts."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lakekeeper_provider.compat import BaseHook
from lakekeeper_provider.events import observed_job
from lakekeeper_provider.operators import writing
from tests.airflow.conftest import connection
from tests.airflow.support import context, logged
from tests.hostile.corpus import LONG, MARKER, NAME, SECRETS, TEXTS
from tests.hostile.operators import VERBS, operator_of
from tests.hostile.report import OUTCOMES, hostile_table
from tests.hostile.search import UNSEEN, Search, executed

#: The colours of Airflow's own log.
_COLOUR = re.compile(r"\x1b\[[0-9;]{1,6}m")
#: A table for each of the texts, in groups, of which `make test` takes one.
GROUPS = [[text for text in TEXTS if text != LONG][start::5] for start in range(5)]


class Recorder:
    """Takes what Airflow's clients of metrics and asset events are given."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self.calls.append((name, args, kwargs))

    def __getitem__(self, alias: Any) -> Recorder:
        return self


class FailingHook:
    """Another engine whose driver says in its error how it was reached."""

    def run(self, statement: str) -> None:
        raise OSError(
            f"cannot connect to hive://etl:{SECRETS['password of the connection']}@hs2: {statement}"
        )


@pytest.fixture
def worker(spark, monkeypatch, tmp_path):
    """A worker with secrets in its environment, its connections, its variables and its YAML file."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv(NAME, SECRETS["environment"])
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", SECRETS["environment of Airflow"])
    monkeypatch.setenv("AIRFLOW_VAR_CANARY", SECRETS["variable of Airflow"])
    secret = {"password": SECRETS["password of the connection"], "login": "etl"}
    extra = {"deploy-mode": "client", "token": SECRETS["extra of the connection"]}
    of_spark = {**json.loads(connection(**extra)), **secret}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(of_spark))
    monkeypatch.setenv("AIRFLOW_CONN_ENGINE", json.dumps({"conn_type": "generic", "host": "hs2", **secret}))
    monkeypatch.setattr(writing.BaseHook, "get_hook", staticmethod(_failing_hook))
    conf = {"spark.hadoop.fs.s3a.secret.key": SECRETS["YAML file"], "spark.ui.port": "4040"}
    conf["spark.driver.extraJavaOptions"] = f"-Djavax.net.ssl.keyStorePassword={SECRETS['YAML file']}"
    conf["spark.executorEnv.PGPASS"] = SECRETS["YAML file"]
    more = {"extra_conf": conf, "keytab": SECRETS["keytab"], "principal": SECRETS["principal"]}
    more["py_files"] = [f"https://etl:{SECRETS['YAML file']}@repository/x.zip"]
    (tmp_path / "lakekeeper.yaml").write_text(json.dumps({"spark_submit": more}))
    return spark


def _failing_hook(conn_id: str) -> FailingHook:
    BaseHook.get_connection(conn_id)  # as a hook does: from now on, Airflow knows the password as a secret
    return FailingHook()


def run(verb: str, folder: Path, statistics: Recorder) -> tuple[dict[str, Any], list[Any]]:
    """Run the operator of a verb; return its context, and all that it has given to others."""
    operator = operator_of(
        verb,
        task_id=verb,
        database="sales",
        config_file=str(folder / "lakekeeper.yaml"),
        report_dir=str(folder / "reports"),
        env_vars={"OWN": SECRETS["env_vars"]},
    )
    events = Recorder()
    told: list[Any] = [statistics.calls, events.calls]
    found = context(outlet_events=events)
    try:
        # As Airflow does with what it returns.
        found["ti"].xcom_push("return_value", operator.execute(found))
    except Exception as error:
        told += [str(error), repr(error.__cause__), repr(error.__context__)]
    told.append(operator.get_openlineage_facets_on_failure(found["ti"]))
    return found, told


@pytest.mark.one_version
@pytest.mark.parametrize("texts", [GROUPS[0], *(pytest.param(g, marks=pytest.mark.full) for g in GROUPS[1:])])
@pytest.mark.parametrize("verb", VERBS)
def test_no_secret_gets_out_of_an_operator(
    airflow_db, worker, tmp_path, monkeypatch, capfd, caplog, texts, verb
):
    statistics = Recorder()
    monkeypatch.setattr(observed_job, "Stats", statistics)
    search = Search()
    for outcome, of_table in OUTCOMES:
        tables = [hostile_table(text, of_table, f"sales.t{i}") for i, text in enumerate(texts)]
        # A line that Java prints is one of the log; for that the report has a word (tests/airflow/test_reports.py).
        of_verb = {"outcome": outcome, "lines": [text for text in texts if len(text.splitlines()) == 1]}
        of_verb |= {"replaced": tables, "exit": 0 if outcome == "done" else 1, "error": LONG}
        worker.plan(**{verb: of_verb})
        found, told = run(verb, tmp_path, statistics)
        for number, value in enumerate(told):
            search.text(f"{verb} told", f"{outcome} {number}", value)
        for key, value in found["ti"].pushed.items():
            search.text("XCom", f"{outcome} {key}", json.dumps(value))
    shown = logged(capfd, caplog)
    search.text("log", verb, shown)
    search.files("reports", tmp_path / "reports")
    for call in worker.calls:
        search.text("request", verb, call["request"])
        own = {name: value for name, value in call["environ"].items() if name != "OWN"}
        search.text("environment of the driver", verb, own)
        assert call["environ"]["OWN"] == SECRETS["env_vars"]
        assert f"spark.hadoop.fs.s3a.secret.key={SECRETS['YAML file']}" in call["argv"]
    assert search.found == [], search.found
    assert search.searched["XCom"] >= len(OUTCOMES), told
    lines = _COLOUR.sub("", shown).splitlines()
    assert not [line for line in lines if line.startswith(("LAKEKEEPER_REPORT", "0000"))]
    assert not [line for line in lines if UNSEEN.search(line)]
    assert executed(tmp_path) == []
    assert not Path(MARKER).exists()


def test_a_byte_that_is_no_text_does_not_break_off_the_log_of_a_job(worker, tmp_path, capfd, caplog):
    """A driver in another locale prints names as other bytes; the job would go on while its task has failed."""
    worker.plan(analyze={"lines": ["name \udce9t\udce9"]})
    found, _ = run("analyze", tmp_path, Recorder())
    assert found["ti"].pushed["return_value"]["outcome"] == "done"
    assert r"name \xe9t\xe9" in logged(capfd, caplog)
