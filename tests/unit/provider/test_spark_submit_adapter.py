"""The private names of the Spark provider exist as the adapter expects them, and no other module uses any."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

import lakekeeper_provider
from demo.services import locks
from lakekeeper_provider.compat import AirflowException, SparkSubmitOperator
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.submission.spark_submit_adapter import (
    PRIVATE_ARGUMENTS,
    PRIVATE_NAMES,
    SparkSubmitter,
    SparkTarget,
    publish_private_arguments,
)

DISTRIBUTION = "apache-airflow-providers-apache-spark"
PACKAGE = Path(lakekeeper_provider.__file__).parent
ADAPTER = PACKAGE / "submission" / "spark_submit_adapter.py"
#: Names that begin with an underscore and are public: methods of named tuples.
_PUBLIC = {"_asdict", "_replace"}
#: A value for each private argument.
GIVEN = {name: f"own-{name}" for name in PRIVATE_ARGUMENTS}


@pytest.fixture(autouse=True)
def spark_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"conn_type": "spark", "host": "local[2]", "extra": {"principal": "etl@REALM"}}
    for name in ("SPARK_DEFAULT", "OWN_CONN_ID"):
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps(value))


@pytest.fixture
def installed() -> dict[str, object]:
    """Instances of the installed classes that have private names, by class name."""
    operator = SparkSubmitOperator(task_id="probe")
    return {"SparkSubmitOperator": operator, "SparkSubmitHook": SparkSubmitHook()}


def missing(owners: dict[str, object]) -> list[str]:
    return [
        f"{entry.owner}.{entry.name}"
        for entry in PRIVATE_NAMES
        if not hasattr(owners[entry.owner], entry.name)
    ]


def submitter(operator: SparkSubmitOperator, **arguments: Any) -> SparkSubmitter:
    return SparkSubmitter(operator, arguments, lambda lines: lines)


class TestPrivateNames:
    def test_the_installed_provider_has_them(self, installed: dict[str, object]) -> None:
        names = missing(installed)
        assert not names, (
            f"{DISTRIBUTION} {version(DISTRIBUTION)} has no {', '.join(names)}: adapt {ADAPTER.name}"
        )

    @pytest.mark.parametrize("entry", PRIVATE_NAMES, ids=lambda entry: f"{entry.owner}.{entry.name}")
    def test_a_missing_one_is_found(self, installed: dict[str, object], entry: Any) -> None:
        others = [item.name for item in PRIVATE_NAMES if item is not entry]
        bare = type("Bare", (), dict.fromkeys(others))
        assert missing({**installed, entry.owner: bare}) == [f"{entry.owner}.{entry.name}"]

    def test_the_hook_resolves_the_keys_that_are_read(self, installed: dict[str, Any]) -> None:
        keys = {"master", "deploy_mode", "spark_binary", "keytab", "principal"}
        assert keys <= set(installed["SparkSubmitHook"]._connection)

    def test_execute_builds_and_keeps_the_hook_as_the_adapter_expects(self) -> None:
        source = inspect.getsource(inspect.unwrap(SparkSubmitOperator.execute))
        assert "self._hook = self._get_hook()" in source

    def test_they_were_checked_on_the_versions_of_the_lock_files(self) -> None:
        for name in ("airflow-3.3", "airflow-2.11"):
            text = locks.lock_file(name).read_text()
            for locked in re.findall(rf"^{DISTRIBUTION}==(\S+)", text, re.M):
                unchecked = [entry.name for entry in PRIVATE_NAMES if locked not in entry.checked]
                assert not unchecked, (
                    f"{name} has {DISTRIBUTION} {locked}: check {unchecked} and add it to CHECKED"
                )

    def test_no_other_module_uses_a_private_name_of_airflow(self) -> None:
        modules = [path for path in PACKAGE.rglob("*.py") if path != ADAPTER and "_jobs" not in path.parts]
        assert len(modules) > 20
        assert {str(path.relative_to(PACKAGE)): found for path in modules if (found := foreign(path))} == {}


def foreign(path: Path) -> list[str]:
    """Private names in a module that belong to other objects than its own, or that the adapter lists."""
    tree = ast.parse(path.read_text())
    listed = {entry.name for entry in PRIVATE_NAMES}
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return sorted({node.attr for node in used if _is_foreign(node, listed)} | (listed & texts))


def _is_foreign(node: ast.Attribute, listed: Iterable[str]) -> bool:
    private = node.attr.startswith("_") and not node.attr.endswith("__")
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return private and node.attr not in _PUBLIC and (not own or node.attr in listed)


def test_the_search_for_private_names_finds_them(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('hook._conf\nself._conn_id\nself._own\nsetattr(x, "_hook", 1)\ncls.__name__\n')
    assert foreign(module) == ["_conf", "_conn_id", "_hook"]


class TestArguments:
    def test_private_arguments_have_public_names_and_the_defaults_of_the_parent(self) -> None:
        parent = inspect.signature(inspect.unwrap(SparkSubmitOperator.__init__)).parameters
        made = AnalyzeOperator(task_id="t", table="a.b")
        defaults = {name: parent[name].default for name in PRIVATE_ARGUMENTS}
        # None: the file decides.
        assert {name: getattr(made, name) for name in PRIVATE_ARGUMENTS} == {
            **defaults,
            "use_krb5ccache": None,
        }

    def test_one_that_another_version_of_the_provider_stores_publicly_keeps_its_value(self) -> None:
        stored = {f"_{name}": name for name in PRIVATE_ARGUMENTS if name != "yarn_queue"}
        operator = SimpleNamespace(yarn_queue="public", **stored)
        publish_private_arguments(operator)
        found = {name: getattr(operator, name) for name in PRIVATE_ARGUMENTS}
        assert found == {**{name: name for name in PRIVATE_ARGUMENTS}, "yarn_queue": "public"}

    def test_they_can_be_given_templated_mapped_and_set_by_default(self) -> None:
        given = AnalyzeOperator(task_id="t", table="a.b", **GIVEN)
        default = AnalyzeOperator(task_id="t", table="a.b", default_args=GIVEN)
        for made in (given, default):
            assert {name: getattr(made, name) for name in PRIVATE_ARGUMENTS} == GIVEN
        assert set(AnalyzeOperator.template_fields) >= {
            *PRIVATE_ARGUMENTS,
            *SparkSubmitOperator.template_fields,
        }
        AnalyzeOperator.partial(task_id="t", **GIVEN).expand(table=["a.b"])

    def test_every_argument_of_the_parent_is_accepted_by_a_mapped_operator(self) -> None:
        parameters = inspect.signature(inspect.unwrap(SparkSubmitOperator.__init__)).parameters.values()
        accepted = {item.name: None for item in parameters if item.kind is item.KEYWORD_ONLY}
        assert len(accepted) > 30
        AnalyzeOperator.partial(task_id="t", **accepted).expand(table=["a.b"])

    def test_those_of_a_submission_reach_the_hook_and_leave_the_operator_as_it_was(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        passed: list[dict[str, Any]] = []

        class Hook(SparkSubmitHook):
            def __init__(self, **kwargs: Any) -> None:
                passed.append(kwargs)
                super().__init__(**kwargs)

        monkeypatch.setattr(f"{SparkSubmitOperator.__module__}.SparkSubmitHook", Hook)
        operator = AnalyzeOperator(task_id="t", table="a.b", conf={"a": "own"})
        before = {name: getattr(operator, name) for name in (*operator.template_fields, "_conn_id")}
        arguments = {**GIVEN, "conn_id": "own_conn_id", "use_krb5ccache": False, "conf": {"a": "merged"}}
        found = submitter(operator, **arguments).target()
        assert found == SparkTarget("local[2]", "own-deploy_mode", "own-spark_binary")
        assert {name: passed[0][name] for name in arguments} == arguments
        assert {name: getattr(operator, name) for name in before} == before


class TestSubmitter:
    def test_a_connection_that_the_hook_cannot_read_is_an_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The hook would submit to yarn."""
        operator = AnalyzeOperator(task_id="t", table="a.b")

        def get_connection(hook: Any, conn_id: str) -> Any:
            raise AirflowException("no secrets backend")

        monkeypatch.setattr(SparkSubmitHook, "get_connection", get_connection)
        found = submitter(operator)
        monkeypatch.setattr(
            "lakekeeper_provider.submission.spark_submit_adapter.BaseHook.get_connection",
            lambda _: type("Connection", (), {"host": "local[2]", "conn_type": "spark"}),
        )
        with pytest.raises(AirflowException, match="'spark_default' could not be read again"):
            found.target()

    @pytest.mark.parametrize(
        ("arguments", "principal"),
        [
            ({"use_krb5ccache": False}, "etl@REALM"),
            ({"use_krb5ccache": True}, None),
            ({"use_krb5ccache": True, "keytab": "/etc/k", "principal": "own@REALM"}, "own@REALM"),
        ],
    )
    def test_a_ticket_excludes_a_principal_without_a_keytab(
        self, arguments: Any, principal: str | None
    ) -> None:
        hook = submitter(AnalyzeOperator(task_id="t", table="a.b"), **arguments)._get_hook()
        assert hook._connection["principal"] == principal

    def test_only_the_filtered_lines_are_logged(self) -> None:
        def even(lines: Iterator[str]) -> Iterator[str]:
            return (line for line in lines if int(line) % 2 == 0)

        hook = SparkSubmitter(AnalyzeOperator(task_id="t", table="a.b"), {}, even)._get_hook()
        hook._process_spark_submit_log(iter(["1", "2", "3", "4"]))
        assert list(hook._last_submit_log_lines) == ["2", "4"]

    def test_a_kill_reaches_the_hook_once_there_is_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        killed = []
        monkeypatch.setattr(SparkSubmitHook, "on_kill", lambda hook: killed.append(hook))
        monkeypatch.setattr(SparkSubmitHook, "submit", lambda *_, **__: None)
        operator = AnalyzeOperator(task_id="t", table="a.b")
        submission = submitter(operator)
        submission.target()
        submission.kill()
        assert killed == []
        submission.submit({})
        submission.kill()
        assert len(killed) == 1


class TestClientMode:
    """The lines of spark-submit are those of the driver, and texts of tables are among them."""

    def test_no_line_of_a_driver_names_the_pod_that_a_kill_deletes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deleted: list[str] = []
        monkeypatch.setattr(f"{SparkSubmitHook.__module__}.kube_client", SimpleNamespace(), raising=False)
        monkeypatch.setattr(
            SparkSubmitHook, "_delete_driver_pod", lambda hook: deleted.append(hook._kubernetes_driver_pod)
        )
        connection = {"conn_type": "spark", "host": "k8s://https://api:6443", "extra": {"namespace": "etl"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
        found = submitter(AnalyzeOperator(task_id="t", table="a.b"), application="job.py")
        found.set_environment({})
        killed: list[str] = []

        def submit(hook: Any, application: str, **kwargs: Any) -> None:
            hook._submit_sp = SimpleNamespace(poll=lambda: None, kill=lambda: killed.append(application))
            for line in ("p=x pod name: other-team-driver", "submission ID spark:other-team-driver"):
                hook._process_spark_submit_log(iter([line]))
                hook.on_kill()

        monkeypatch.setattr(SparkSubmitHook, "submit", submit)
        found.submit({})
        assert killed == ["job.py", "job.py"]
        assert deleted == []


class TestTracking:
    """A submission is tracked and killed as by the operator itself, in modes in which spark-submit ends early."""

    @pytest.fixture
    def calls(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The calls that the hook got; its driver ends as ``FINISHED``."""
        found: list[str] = []

        def submit(hook: Any, application: str, **popen: Any) -> str:
            hook._driver_id, hook._yarn_application_id = "driver-1", "application_1"
            found.append(f"submit {application}")
            return "driver-1"

        def track(hook: Any) -> None:
            found.append(f"track {hook._driver_id}")
            hook._driver_status = "FINISHED"

        monkeypatch.setattr(SparkSubmitHook, "submit", submit)
        monkeypatch.setattr(SparkSubmitHook, "_start_driver_status_tracking", track)
        for name in ("_start_yarn_application_status_tracking", "_kill_yarn_application"):
            monkeypatch.setattr(
                SparkSubmitHook, name, lambda _, app, name=name: found.append(f"{name} {app}")
            )
        return found

    def submitted(self, monkeypatch: pytest.MonkeyPatch, host: str, **kwargs: Any) -> SparkSubmitter:
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": "http://rm:8088"}
        connection = {"conn_type": "spark", "host": host, "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
        found = submitter(AnalyzeOperator(task_id="t", table="a.b", **kwargs), application="job.py")
        found.submit({})
        return found

    def test_a_standalone_cluster(self, monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
        self.submitted(monkeypatch, "spark://master:7077")
        assert calls == ["submit job.py", "track driver-1"]

    def test_yarn_by_its_resource_manager(self, monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
        found = self.submitted(monkeypatch, "yarn", yarn_track_via_rm_api=True)
        found.kill()
        assert calls == [
            "submit job.py",
            "_start_yarn_application_status_tracking application_1",
            "_kill_yarn_application application_1",
        ]
