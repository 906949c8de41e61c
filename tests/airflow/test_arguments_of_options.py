"""Every option that a verb has on its command line is an argument of the operator of this verb."""

from __future__ import annotations

import inspect

import pytest

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.check import CheckOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.options import OPTIONS

#: The window of the operator becomes the deadline.
BY_OTHER_ARGUMENTS = {"deadline"}
#: Set once for all tasks: in the YAML file.
BY_FILE_ONLY = {"full_scan", "trusted_owners"}


OPERATORS = (AnalyzeOperator, CompactOperator, RollbackOperator, CleanupOperator, CheckOperator)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_option_with_a_flag_is_an_argument_of_the_operator(operator):
    flags = {key for key, option in OPTIONS.items() if option.flag and operator.verb in option.flag.verbs}
    arguments = set(operator.option_keys)
    assert flags - BY_OTHER_ARGUMENTS - BY_FILE_ONLY <= arguments
    accepted = {name for base in operator.__mro__ for name in inspect.signature(base.__init__).parameters}
    assert arguments <= accepted
    assert arguments <= set(operator.template_fields)
