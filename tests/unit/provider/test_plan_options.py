"""Which options a plan, the file and a table's section in it may set."""

from __future__ import annotations

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.definitions import OPTIONS, options_of_plan

PLANNED = {key for key, option in OPTIONS.items() if option.planned}
IN_THE_FILE = {key for key, option in OPTIONS.items() if option.section}


@pytest.mark.parametrize("key", sorted(OPTIONS.keys() - PLANNED))
def test_a_plan_sets_nothing_but_what_chooses_and_sizes_work(key):
    with pytest.raises(UsageError, match=f"a plan cannot set '{key}'"):
        options_of_plan("analysis: ", {key: OPTIONS[key].default})


@pytest.mark.parametrize("key", sorted(OPTIONS.keys() - IN_THE_FILE))
def test_the_file_does_not_set_what_belongs_to_one_call(key):
    with pytest.raises(UsageError, match=f"unknown key {key}"):
        config.parse({key: OPTIONS[key].default})


@pytest.mark.parametrize("key", sorted(key for key, option in OPTIONS.items() if not option.per_table))
def test_the_section_of_a_table_does_not_set_what_belongs_to_a_job(key):
    with pytest.raises(UsageError, match=rf"unknown key tables\.a\.b\.{key}"):
        config.parse({"tables": {"a.b": {key: OPTIONS[key].default}}})
