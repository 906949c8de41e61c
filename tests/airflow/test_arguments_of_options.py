"""Every option of the jobs is an argument of the operators."""

from __future__ import annotations

import inspect

import pytest

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.check import CheckOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.history import HistoryOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.options.definitions import OPTIONS

#: The window of the operator becomes the deadline.
BY_OTHER_ARGUMENTS = {"deadline"}

OPERATORS = (
    AnalyzeOperator,
    CompactOperator,
    RollbackOperator,
    CleanupOperator,
    CheckOperator,
    HistoryOperator,
)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_option_with_a_flag_is_an_argument_of_the_operator(operator):
    flags = {key for key, option in OPTIONS.items() if option.flag and operator.verb in option.flag.verbs}
    arguments = set(operator.option_keys)
    assert flags - BY_OTHER_ARGUMENTS <= arguments
    accepted = {name for base in operator.__mro__ for name in inspect.signature(base.__init__).parameters}
    assert arguments <= accepted
    assert arguments <= set(operator.template_fields)


def test_every_option_is_an_argument_of_an_operator():
    arguments = {key for operator in OPERATORS for key in operator.option_keys}
    assert arguments == set(OPTIONS) - BY_OTHER_ARGUMENTS


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_docstrings_describe_each_option_with_the_text_of_its_help(operator):
    described = "\n".join(base.__doc__ or "" for base in operator.__mro__ if hasattr(base, "option_keys"))
    for key in operator.option_keys:
        assert described.count(f"    {key}: {OPTIONS[key].help}") == 1, key


def test_an_option_without_a_flag_goes_into_the_request_as_an_argument():
    task = CompactOperator(
        task_id="compact",
        table="sales.events",
        attributes="require",
        quota_folders="/data/a,/data/b",
        lease_wait="10m",
        register_backup="false",
    )
    assert task.arguments() == {
        "attributes": "require",
        "quota_folders": ["/data/a", "/data/b"],
        "lease_wait": "10m",
        "register_backup": False,
    }
