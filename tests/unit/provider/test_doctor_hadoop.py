"""Where `doctor` says that the jobs of a shell run."""

from __future__ import annotations

import pytest

from lakekeeper_provider.doctor import hadoop
from lakekeeper_provider.doctor.checks import Desk

CONFIGURED = {"YARN_CONF_DIR": "/etc/hadoop/conf"}


@pytest.mark.parametrize(
    ("master", "environ", "outcome", "found", "action"),
    [
        ("yarn", {}, "advice", "HADOOP_CONF_DIR is not set here", "export HADOOP_CONF_DIR="),
        ("yarn", {"HADOOP_CONF_DIR": ""}, "advice", "HADOOP_CONF_DIR is not set here", "export"),
        ("yarn", CONFIGURED, "good", "on yarn", None),
        ("local[*]", CONFIGURED, "advice", "on this machine (local[*])", "enabled: true, master: yarn"),
        ("k8s://host", {}, "good", "on k8s://host", None),
    ],
)
def test_where_jobs_run(master, environ, outcome, found, action):
    check = hadoop.master(Desk("shell"), master, environ)
    assert (check.check, check.outcome) == ("master", outcome)
    assert found in check.found
    assert (check.action is None) == (action is None)
    assert action is None or action in check.action


def test_a_machine_without_a_cluster_runs_jobs_by_itself(monkeypatch, tmp_path):
    monkeypatch.setattr(hadoop, "_USUAL", tmp_path / "missing")
    assert hadoop.master(Desk("shell"), "local[*]", {}).outcome == "good"
