"""The bounds of options: no text is taken that no clock, counter or memory stands, and none raises another error."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.options.configuration import parse_config
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.layers import OWN_PROPERTIES, Layers, read_properties
from spark_jobs.core.options.option import Layer
from spark_jobs.core.planning.plan_file import parse_plan
from spark_jobs.core.planning.retention import check_retention
from spark_jobs.core.wire.request import Request

TABLE = "db.t"
HOW = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
EXTREMES = (
    *(
        "",
        " ",
        "\n",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "9" * 5000,
        "-" + "9" * 400,
        "1e400",
        "nan",
        "inf",
        "-inf",
    ),
    *(
        "٣",
        "٣d",
        "9999999999w",
        "1" + "0" * 300 + "tb",
        "[" * 5000,
        "{" * 5000,
        '[{"a":' * 2000,
        "x" * 100_000,
    ),
    *("0", "-1", "0s", "-1s", "1.5", "true", "null", "[]", "{}", "[z-a]", "[!", "0001-01-01T00:00:00+23:59"),
    *(
        "9999-12-31T23:59:59-23:59",
        "2026-02-30T00:00:00Z",
        "[" + "9" * 5000 + "]",
        '["\\ud800"]',
        '[{"a":NaN}]',
    ),
)
TEXTS = (
    st.sampled_from(EXTREMES)
    | st.text(max_size=30)
    | st.from_regex(r"-?[0-9.]{0,25}[a-z]{0,2}", fullmatch=True)
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.sampled_from(("huge",)).map(lambda _: 10**5000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
NAMES = st.sampled_from(sorted(OPTIONS))


def _told(act: Any) -> None:
    """Do it. An error must be one of usage, in one line that can be read."""
    text = ""
    try:
        act()
    except UsageError as error:
        text = str(error)
    assert len(text) < 2_000
    assert text.isprintable()


@settings(max_examples=1500, **HOW)
@given(NAMES, VALUES, st.sampled_from(("command_line", "arguments", "settings", "tables", "planned")))
def test_no_value_in_any_layer_raises_anything_but_a_usage_error(name: str, value: Any, layer: str) -> None:
    given_here = {name: value}
    layers = Layers(**{layer: {TABLE: given_here} if layer in ("tables", "planned") else given_here})

    def act() -> None:
        layers.check()
        check_retention(layers, "db")

    _told(act)


@settings(max_examples=1500, **HOW)
@given(
    st.dictionaries(NAMES.map("lakekeeper.{}".format) | TEXTS.map("lakekeeper.{}".format), TEXTS, max_size=3)
)
def test_no_property_raises_an_error_and_each_one_that_does_not_count_is_named(
    properties: dict[str, str],
) -> None:
    options = Layers().resolve(TABLE, properties)
    found = read_properties(properties, TABLE)
    assert len(found.ignored) + len(found.values) >= len(set(properties) - set(OWN_PROPERTIES))
    for text in found.ignored:
        assert text.startswith("PROPERTY_IGNORED: the property ")
        assert len(text) < 2_000
        assert text.isprintable()
    for name, value in vars(options).items():
        assert value == found.values.get(name, getattr(DEFAULTS, name))


@settings(max_examples=400, **HOW)
@given(st.sampled_from(sorted(name for name, option in OPTIONS.items() if option.metavar)), TEXTS)
def test_no_text_of_a_flag_raises_anything_but_a_usage_error(name: str, text: str) -> None:
    option = OPTIONS[name]
    line = ["--database", "db", f"{option.flag}={text}"]
    _told(lambda: Layers(command_line=parse(option.verbs[0], line, "").options).check())


_YAML = (
    "[" * 5000,
    "block_size_mb: " + "9" * 5000,
    "older_than: 2026-13-45",
    "a: !!timestamp x",
    "a: !!bool x",
    "a: !!int x",
    "? [a]\n: b",
    "a: &a [*a]",
    "\x00",
    "tables: {db.t: {block_size_mb: &a [*a]}}",
)


@settings(max_examples=400, **HOW)
@given(st.sampled_from(_YAML) | TEXTS, st.sampled_from(("f.yaml", "f.json")))
def test_no_configuration_file_raises_anything_but_a_usage_error(text: str, name: str) -> None:
    def act() -> None:
        found = parse_config(text, name)
        Layers(settings=found.settings, tables=found.sections).check()

    _told(act)


def _json(value: Any) -> str:
    try:
        return json.dumps(value)
    except ValueError:  # Python writes no number with thousands of digits; a file may have one.
        return f'{{"tables": {"9" * 5000}}}'


KEYS = st.sampled_from(
    ("schema_version", "arguments", "tables", "settings", "units", "fingerprints", "verb", "error")
)


@settings(max_examples=800, **HOW)
@given(TEXTS | VALUES.map(_json) | st.dictionaries(KEYS, st.just(1) | VALUES, max_size=5).map(_json))
def test_no_request_and_no_plan_raises_anything_but_a_usage_error(text: str) -> None:
    _told(lambda: Request.from_json(text))
    _told(lambda: parse_plan(text, "the plan"))


@pytest.mark.parametrize("layer", ["command_line", "arguments", "settings"])
@pytest.mark.parametrize(
    ("name", "value"),
    [("lease_timeout", "0s"), ("lease_wait", "3650d"), ("parallelism", 10**6), ("idle_for", "9999999999w")],
)
def test_a_value_out_of_bounds_is_named_with_the_bounds_and_the_layer(
    layer: str, name: str, value: Any
) -> None:
    where = {"command_line": "command line", "arguments": "arguments", "settings": "configuration"}[layer]
    with pytest.raises(UsageError, match=f"{name} = {value!r} in the {where}") as error:
        Layers(**{layer: {name: value}}).check()
    assert OPTIONS[name].parse.bounds in str(error.value)


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_an_option_is_taken_from_the_layers_that_may_set_it_and_from_no_other(name: str) -> None:
    value = OPTIONS[name].choices[0] if OPTIONS[name].choices else _VALUES.get(name, "true")
    for layer, given_in in _LAYERS.items():
        layers = Layers(
            **{given_in: {TABLE: {name: value}} if given_in in ("tables", "planned") else {name: value}}
        )
        if name == "sort_columns" and layer is Layer.FILE:
            layers = Layers(settings={name: {TABLE: ["a"]}})
        if layer in OPTIONS[name].layers:
            layers.check()
            continue
        with pytest.raises(UsageError, match=f"'{name}' in .* is not allowed; it can be set as: "):
            layers.check()
    ignored = read_properties({f"lakekeeper.{name}": str(value)}, TABLE).ignored
    assert bool(ignored) == (Layer.PROPERTY not in OPTIONS[name].layers)


_LAYERS = {
    Layer.ARGUMENT: "arguments",
    Layer.FILE: "settings",
    Layer.SECTION: "tables",
    Layer.PLAN: "planned",
}
_VALUES = {
    "native_formats": "iceberg",
    **dict.fromkeys(
        ("block_size_mb", "compaction_ratio_threshold", "min_input_files", "parallelism", "keep_last"), 2
    ),
    **dict.fromkeys(
        ("trigger_unit_files", "trigger_small_files", "trigger_growth", "max_calls_per_second"), 2
    ),
    **dict.fromkeys(("min_small_files", "min_files_per_gb"), 2),
    **dict.fromkeys(("max_files", "max_units", "canary", "max_failures"), 2),
    **dict.fromkeys(("target_file_size", "trigger_average_size", "max_bytes", "max_held_bytes"), "1mb"),
    **dict.fromkeys(("idle_for", "trigger_interval", "older_than", "staging_ttl"), "7d"),
    **dict.fromkeys(("lease_timeout", "lease_wait"), "30s"),
    "partitions": '[{"a": "1"}]',
    "deadline": "2026-02-24T05:00:00Z",
}


@pytest.mark.parametrize("name", ["bucketing", "kafka_connect", "readers", "enabled"])
@pytest.mark.parametrize("layer", ["command_line", "arguments", "settings", "tables", "planned"])
def test_what_only_the_owner_of_a_table_knows_is_set_by_nobody_else(name: str, layer: str) -> None:
    given_here = {name: OPTIONS[name].choices[-1] if OPTIONS[name].choices else "true"}
    with pytest.raises(UsageError, match=f"'{name}' in .* is not allowed"):
        Layers(**{layer: {TABLE: given_here} if layer in ("tables", "planned") else given_here}).check()


@pytest.mark.parametrize(
    ("properties", "name", "expected"),
    [
        ({"idle_for": "9999999999w"}, "idle_for", None),
        ({"lease_timeout": "0s"}, "lease_timeout", timedelta(seconds=20)),
        ({"lease_wait": "3650d"}, "lease_wait", timedelta(seconds=60)),
        ({"parallelism": "100000"}, "parallelism", 4),
        ({"skip_trash": "true"}, "skip_trash", False),
        ({"quota_folders": "hdfs://elsewhere/"}, "quota_folders", ()),
        ({"staging_ttl": "0s"}, "staging_ttl", timedelta(hours=24)),
        ({"block_size_mb": "٣"}, "block_size_mb", 128),
        ({"attributes": "warn"}, "attributes", None),
    ],
)
def test_a_property_that_is_not_allowed_leaves_the_option_as_it_is(
    properties: dict[str, str], name: str, expected: Any
) -> None:
    own = {f"lakekeeper.{key}": value for key, value in properties.items()}
    assert getattr(Layers().resolve(TABLE, own), name) == expected
    (text,) = read_properties(own, TABLE).ignored
    assert f"'lakekeeper.{name}' = '{properties[name]}' of table db.t is ignored" in text


@pytest.mark.parametrize(
    ("property_", "name", "expected"),
    [
        ({"enabled": "nope"}, "enabled", False),
        ({"enabled": ""}, "enabled", False),
        ({"dry_run": "yes"}, "dry_run", True),
        ({"attributes": "requir"}, "attributes", "require"),
        ({"older_than": "90 days"}, "older_than", timedelta(days=36500)),
        ({"older_than": "9999999999w"}, "older_than", timedelta(days=36500)),
        ({"keep_last": "all"}, "keep_last", 1_000_000),
    ],
)
def test_what_protects_a_table_is_never_loosened_because_it_cannot_be_read(
    property_: dict[str, str], name: str, expected: Any
) -> None:
    own = {f"lakekeeper.{key}": value for key, value in property_.items()}
    layers = Layers(settings={"older_than": "7d", "keep_last": 2})
    assert getattr(layers.resolve(TABLE, own), name) == expected
    (text,) = read_properties(own, TABLE).ignored
    assert "the strictest value counts" in text


def test_a_property_does_not_switch_a_dry_run_of_the_configuration_off() -> None:
    layers = Layers(settings={"dry_run": True})
    assert layers.resolve(TABLE, {"lakekeeper.dry_run": "false"}).dry_run
    assert Layers().resolve(TABLE, {"lakekeeper.dry_run": "true"}).dry_run


@pytest.mark.parametrize("key", ["lakekeeper.enable", "LAKEKEEPER.ENABLED", "Lakekeeper.enabled"])
def test_a_property_with_another_name_is_named_with_the_right_one(key: str) -> None:
    (text,) = read_properties({key: "false"}, TABLE).ignored
    assert "did you mean 'lakekeeper.enabled'?" in text


def test_the_properties_of_backup_tables_are_no_options() -> None:
    assert not read_properties(
        {"lakekeeper.run_id": "r", "lakekeeper.source_table": "a.b", "x": "y"}, "a.c"
    ).ignored


def test_a_selection_of_a_property_beside_one_of_the_job_refuses_the_table() -> None:
    with pytest.raises(Refusal, match="'where' and 'idle_for' are given"):
        Layers(arguments={"where": "a = 1"}).resolve(TABLE, {"lakekeeper.idle_for": "7d"})
