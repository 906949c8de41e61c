"""The YAML template and its JSON Schema agree with what the program accepts."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.definitions import OPTIONS
from lakekeeper_provider.options.spark_submit import KEYS
from lakekeeper_provider.shell import generate

SCHEMA = json.loads(generate.SCHEMA.read_text())


def accepted_by_editors(content):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(content)


def in_effect():
    """Return the template with every commented key in effect."""
    lines = generate.TEMPLATE.read_text().partition("# --- What to compact")[2].splitlines()
    return yaml.safe_load(
        "\n".join(line.replace("# ", "", 1) if _is_key(line) else line for line in lines[1:])
    )


def _is_key(line):
    key = line.strip().removeprefix("# ").strip().partition(":")
    return bool(key[1]) and " " not in key[0]


def test_the_template_shows_every_key_with_a_value_that_is_accepted():
    content = in_effect()
    assert accepted_by_editors(content)
    found = config.parse(content)
    assert set(found.settings) == {key for key, option in OPTIONS.items() if option.section}
    assert set(content["spark_submit"]) == set(KEYS)
    assert found.windows["nightly"].timezone == "Europe/Paris"
    assert found.tables["mydb.logs"]["block_size_mb"] == 64


@pytest.mark.parametrize(
    "content",
    [
        {"tabels": {}},
        {"block_size_mb": "big"},
        {"block_size_mb": 0},
        {"verify": "sum"},
        {"older_than": "a week"},
        {"sort_columns": {"a.b": 3}},
        {"tables": {"a.b": {"dry_run": True}}},
        {"tables": {"a.b": {"keep_last": -1}}},
        {"windows": {"nightly": {"start": "22:00"}}},
        {"spark_submit": {"deploy_mode": "local"}},
        {"spark_submit": {"kerberos": True}},
    ],
    ids=str,
)
def test_a_mistake_is_found_by_the_editor_and_by_the_program(content):
    assert not accepted_by_editors(content)
    with pytest.raises(UsageError):
        config.parse(content)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"tables": None},
        {"target_file_size": "1.5GB", "lease_wait": "2 m"},
        {"trusted_owners": "etl,spark"},
        {"windows": {"n": {"start": 1320, "end": "05:00", "days": ["mon"]}}},
        {"spark_submit": {"extra_conf": {"spark.a": True, "spark.b": 1}, "num_executors": 2}},
    ],
    ids=str,
)
def test_what_the_program_accepts_is_no_mistake_in_an_editor(content):
    assert accepted_by_editors(content)
    config.parse(content)
