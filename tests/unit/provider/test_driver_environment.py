"""Which variables of a worker a driver gets."""

from __future__ import annotations

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.submission.driver_environment import DriverEnvironment

NEEDED = {
    **{
        "PATH": "/bin",
        "HOME": "/h",
        "USER": "u",
        "LOGNAME": "u",
        "SHELL": "/bin/sh",
        "LANG": "C",
        "TZ": "UTC",
    },
    **{"LC_ALL": "C", "TMPDIR": "/t", "LD_LIBRARY_PATH": "/l", "JAVA_HOME": "/j", "CLASSPATH": "/c"},
    **{"SPARK_HOME": "/s", "SPARK_CONF_DIR": "/sc", "PYSPARK_PYTHON": "p", "HADOOP_CONF_DIR": "/hc"},
    **{
        "HADOOP_USER_NAME": "etl",
        "HDFS_X": "1",
        "YARN_CONF_DIR": "/y",
        "MAPRED_X": "1",
        "HIVE_CONF_DIR": "/hv",
    },
    **{"KRB5CCNAME": "FILE:/k", "KRB5_CONFIG": "/k5"},
}
SECRETS = {
    **{"AIRFLOW__CORE__FERNET_KEY": "f", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "postgres://u:p@h/d"},
    **{"AIRFLOW_CONN_SPARK_DEFAULT": "{}", "_AIRFLOW_X": "1", "AWS_SECRET_ACCESS_KEY": "a", "MY_TOKEN": "t"},
    **{"PYTHONPATH": "/dags", "MYPATH": "1", "path": "lower", "XSPARK_HOME": "1", "HOMEX": "1"},
}


def test_a_client_of_spark_gets_what_it_needs_and_no_secret_of_the_worker():
    found = DriverEnvironment.of({**NEEDED, **SECRETS}, (), None)
    assert found.variables == NEEDED
    assert found.left_out == tuple(sorted(SECRETS))


def test_names_and_globs_are_passed_too_and_a_star_passes_all():
    found = DriverEnvironment.of({**NEEDED, **SECRETS}, ("MY_TOKEN", "AWS_*"), None)
    assert found.variables.keys() - NEEDED.keys() == {"MY_TOKEN", "AWS_SECRET_ACCESS_KEY"}
    assert DriverEnvironment.of({**NEEDED, **SECRETS}, ("*",), None) == DriverEnvironment(
        {**NEEDED, **SECRETS}, ()
    )


def test_the_operators_own_variables_have_priority_and_are_not_left_out():
    found = DriverEnvironment.of({"PATH": "/bin", "MY_TOKEN": "t"}, (), {"PATH": "/own", "MY_TOKEN": 7})
    assert found == DriverEnvironment({"PATH": "/own", "MY_TOKEN": "7"}, ())


@pytest.mark.parametrize("wrong", ["MY_TOKEN=abc", ["A B"], ["$HOME"], [""], {"A": "b"}])
def test_a_value_in_place_of_a_name_is_a_mistake(wrong):
    with pytest.raises(UsageError, match=r"spark_submit\.pass_environment"):
        config.parse({"spark_submit": {"pass_environment": wrong}})


def test_the_file_names_them():
    found = config.parse({"spark_submit": {"pass_environment": ["JAVA_TOOL_OPTIONS", "AWS_*"]}})
    assert found.spark_submit.pass_environment == ("JAVA_TOOL_OPTIONS", "AWS_*")
    assert config.parse({"spark_submit": {"pass_environment": "*"}}).spark_submit.pass_environment == ("*",)
