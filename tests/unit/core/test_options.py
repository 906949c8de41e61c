"""Which layer of options wins, and how each value is read."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.options.configuration import Configuration, parse_config
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.layers import Layers, parse_option, read_properties
from spark_jobs.core.options.option import VERBS, Level

TABLE = "db.events"


def test_each_layer_wins_over_the_next() -> None:
    layers: dict[str, Any] = {
        "settings": {"block_size_mb": 1},
        "tables": {TABLE: {"block_size_mb": 3}},
        "arguments": {"block_size_mb": 4},
        "command_line": {"block_size_mb": "5"},
    }
    properties = {"lakekeeper.block_size_mb": "2", "lakekeeper.run_id": "x", "transient": "y"}
    expected = [128, 1, 2, 3, 4, 5]
    seen = [
        Layers().resolve(TABLE).block_size_mb,
        Layers(settings=layers["settings"]).resolve(TABLE).block_size_mb,
    ]
    given: dict[str, Any] = {"settings": layers["settings"]}
    seen.append(Layers(**given).resolve(TABLE, properties).block_size_mb)
    for name in ("tables", "arguments", "command_line"):
        given[name] = layers[name]
        seen.append(Layers(**given).resolve(TABLE, properties).block_size_mb)
    assert seen == expected


def test_sort_columns_of_the_command_line_count_for_all_its_tables() -> None:
    layers = Layers(command_line={"sort_columns": "a,b"}, settings={"sort_columns": {TABLE: ["c"]}})
    assert {layers.resolve(table).sort_columns for table in (TABLE, "db.other")} == {("a", "b")}


def test_sort_columns_come_by_table_from_the_settings() -> None:
    layers = Layers(settings={"sort_columns": {TABLE: ["a", "b"]}})
    assert layers.resolve(TABLE).sort_columns == ("a", "b")
    assert layers.resolve("db.other").sort_columns == ()
    assert Layers(settings={"sort_columns": {TABLE.upper(): ["a"]}}).resolve(TABLE).sort_columns == ("a",)
    with pytest.raises(UsageError, match="'events' is not a table name"):
        Layers(settings={"sort_columns": {"events": ["a"]}}).check()
    with pytest.raises(UsageError, match="must map tables to columns"):
        Layers(settings={"sort_columns": ["a"]}).check()


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("block_size_mb", "256", 256),
        ("compaction_ratio_threshold", 5, 5.0),
        ("target_file_size", "512MB", 512 * 1024 * 1024),
        ("target_file_size", "1.5gb", 1536 * 1024 * 1024),
        ("older_than", "7d", timedelta(days=7)),
        ("older_than", "168h", timedelta(days=7)),
        ("staging_ttl", "30m", timedelta(minutes=30)),
        ("deadline", "2026-02-24T05:00:00Z", datetime(2026, 2, 24, 5, tzinfo=timezone.utc)),
        ("deadline", "2026-02-24T05:00:00+02:00", datetime(2026, 2, 24, 3, tzinfo=timezone.utc)),
        ("dry_run", "False", False),
        ("register_backup", True, True),
        ("sort_columns", "a, b,", ("a", "b")),
        ("sort_columns", '["a,b"]', ("a,b",)),
        ("log_level", "debug", "DEBUG"),
        ("backup_prefix", "__BKP", "__bkp"),
    ],
)
def test_values_are_read(name: str, value: object, parsed: object) -> None:
    assert parse_option(name, value, "a test") == parsed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_size_mb", 0),
        ("block_size_mb", "many"),
        ("block_size_mb", 1.5),
        ("parallelism", True),
        ("min_input_files", 1),
        ("compaction_ratio_threshold", "nan"),
        ("older_than", "7 days"),
        ("target_file_size", "-1mb"),
        ("deadline", "2026-02-24T05:00:00"),
        ("dry_run", "maybe"),
        ("dry_run", 1),
        ("on_failure", "ignore"),
        ("verify", "nothing"),
        ("backup_prefix", "a.b"),
        ("sort_columns", {"a": 1}),
    ],
)
def test_bad_values_are_named_with_what_to_write(name: str, value: object) -> None:
    with pytest.raises(UsageError) as error:
        parse_option(name, value, "the arguments")
    assert name in str(error.value)
    assert repr(value) in str(error.value)


def test_unknown_options_name_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'backup_prefix'"):
        Layers(settings={"backup_prefx": "x"}).check()


def test_where_and_partitions_exclude_each_other_across_layers() -> None:
    with pytest.raises(UsageError, match="both 'where' and 'partitions'"):
        Layers(arguments={"where": "a = 1", "partitions": [{"a": "1"}]}).check()
    with pytest.raises(UsageError, match="not allowed with"):
        parse("compact", ["--table", "a.b", "--where", "x", "--partitions", "[]"], "")


@pytest.mark.parametrize(("other", "value"), [("where", "a = 1"), ("partitions", [{"a": "1"}])])
def test_idle_for_and_another_selection_exclude_each_other(other: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"both '{other}' and 'idle_for'"):
        Layers(arguments={other: value}, settings={"idle_for": "7d"}).check()
    nearer = Layers(arguments={other: value}, command_line={"idle_for": "0s"}, settings={"idle_for": "7d"})
    assert not nearer.resolve().idle_for


def test_three_selections_are_all_named() -> None:
    given = {"where": "a = 1", "partitions": [{"a": "1"}], "idle_for": "7d"}
    with pytest.raises(UsageError, match="'where' and 'partitions' and 'idle_for' are given"):
        Layers(arguments=given).check()


def test_a_selection_by_a_property_that_excludes_that_of_the_job_refuses_this_table_only() -> None:
    layers = Layers(arguments={"where": "a = 1"})
    with pytest.raises(
        Refusal, match="'where' and 'idle_for' are given, one of them as a property of table d"
    ):
        layers.resolve("d.t", {"lakekeeper.idle_for": "7d"})
    assert layers.resolve("d.t", {"lakekeeper.trigger_interval": "1d"}).trigger_interval == timedelta(days=1)


def test_a_command_line_holds_only_what_was_given() -> None:
    line = parse(
        "compact", ["--tables", "a.b, c.d", "--block-size", "64", "--no-analyze-stats", "--run-id", "r-1"], ""
    )
    assert (line.tables, line.run_id, line.database) == (("a.b", "c.d"), "r-1", None)
    assert line.options == {"block_size_mb": "64", "analyze_after_compaction": False}


@pytest.mark.parametrize(
    ("verb", "argv", "message"),
    [
        ("compact", [], "give --table, --tables or --database, or a file that names them"),
        ("compact", ["--table", "a.b", "--database", "a"], "not allowed with"),
        ("compact", ["--table", ""], "has an empty value"),
        ("cleanup", ["--tables", " , "], "has an empty value"),
        ("compact", ["--database", ""], "has an empty value"),
        ("rollback", ["--table", "a.b", "--run-id", ""], "64 characters"),
        ("compact", ["--table", "a.b", "--run-id", "manual__2026-02-24T00:00:00"], "64 characters"),
        ("analyze", ["--table", "a.b", "--dry-run"], "unrecognized arguments"),
        ("rollback", ["--table", "a.b", "--older-than", "1d"], "unrecognized arguments"),
        ("compact", ["--table", "a.b", "--verify", "never"], "invalid choice"),
    ],
)
def test_a_bad_command_line_is_a_usage_error(verb: str, argv: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(verb, argv, "")


def test_configuration_files() -> None:
    text = "block_size_mb: 64\nspark_submit: {master: yarn}\ntables:\n  db.t: {keep_last: 2}\n"
    assert parse_config(text, "f.yaml") == Configuration({"block_size_mb": 64}, {"db.t": {"keep_last": 2}})
    assert parse_config('{"block_size_mb": 64}', "f.json") == Configuration({"block_size_mb": 64})
    assert parse_config("", "f.yaml") == Configuration()
    for bad, name in (("- a", "f.yaml"), ("a: [", "f.yaml"), ("{", "f.json"), ("tables: {a: [b]}", "f.yaml")):
        with pytest.raises(UsageError, match=name):
            parse_config(bad, name)


@pytest.mark.parametrize(
    ("text", "tables", "database"),
    [
        ("table: sales.events", ("sales.events",), None),
        ("tables: [sales.events, sales.logs]", ("sales.events", "sales.logs"), None),
        ("database: sales", (), "sales"),
        ("database: sales\ntables: {sales.events: {keep_last: 2}}", (), "sales"),
    ],
)
def test_a_configuration_file_may_name_what_is_worked_on(
    text: str, tables: tuple[str, ...], database: str | None
) -> None:
    found = parse_config(text, "f.yaml")
    assert (found.tables, found.database, dict(found.settings)) == (tables, database, {})


@pytest.mark.parametrize(
    "text", ["table: a.b\ndatabase: a", "tables: [a.b]\ndatabase: a", "tables: [1]", "table: {a: b}"]
)
def test_a_configuration_file_names_one_thing(text: str) -> None:
    with pytest.raises(UsageError, match=r"f\.yaml"):
        parse_config(text, "f.yaml")


@pytest.mark.parametrize(
    ("settings", "properties", "older_than", "keep_last"),
    [
        ({"older_than": "7d"}, {"older_than": "30d"}, timedelta(days=30), 0),
        ({"older_than": "7d"}, {"older_than": "0s"}, timedelta(days=7), 0),
        ({}, {"older_than": "1h"}, timedelta(hours=1), 0),
        ({"keep_last": 2}, {"keep_last": "0"}, None, 2),
        ({"keep_last": 2}, {"keep_last": "5"}, None, 5),
        ({"older_than": "7d", "keep_last": 2}, {"older_than": "8d"}, timedelta(days=8), 2),
    ],
)
def test_a_table_property_lengthens_a_retention_and_never_shortens_it(
    settings: dict[str, Any], properties: dict[str, str], older_than: timedelta | None, keep_last: int
) -> None:
    own = {f"lakekeeper.{name}": value for name, value in properties.items()}
    options = Layers(settings=settings).resolve("db.t", own)
    assert (options.older_than, options.keep_last) == (older_than, keep_last)


def test_whoever_cleans_up_by_hand_may_say_so() -> None:
    options = Layers(command_line={"older_than": "0d"}).resolve("db.t", {"lakekeeper.older_than": "30d"})
    assert options.older_than == timedelta(0)


def test_a_table_property_cannot_switch_the_trash_off() -> None:
    properties = {"lakekeeper.skip_trash": "true"}
    assert not Layers().resolve("db.t", properties).skip_trash
    (warning,) = read_properties(properties, "db.t").ignored
    assert warning.startswith("PROPERTY_IGNORED: the property 'lakekeeper.skip_trash' = 'true' of table db.t")


@pytest.mark.parametrize(
    ("name", "value", "layer"),
    [
        ("max_calls_per_second", "100", "settings"),
        ("where", "d = '1'", "arguments"),
        ("backup_database", "finance", "settings"),
        ("attributes", "warn", "settings"),
        ("trusted_owners", "mallory", "settings"),
    ],
)
def test_a_table_property_says_nothing_of_what_lies_outside_the_table(
    name: str, value: str, layer: str
) -> None:
    """Whoever may change a table's properties has no right to what the jobs' account may do."""
    properties = {f"lakekeeper.{name}": value}
    assert getattr(Layers().resolve("db.t", properties), name) == getattr(DEFAULTS, name)
    (warning,) = read_properties(properties, "db.t").ignored
    assert f"'lakekeeper.{name}' = {value!r} of table db.t is ignored" in warning
    assert getattr(Layers(**{layer: {name: value}}).resolve("db.t"), name) != getattr(DEFAULTS, name)


def test_a_table_property_may_ask_for_more() -> None:
    assert Layers().resolve("db.t", {"lakekeeper.attributes": "require"}).attributes == "require"


def test_few_options_are_for_every_day() -> None:
    assert sum(option.level is Level.DAILY for option in OPTIONS.values()) <= 12


@pytest.mark.parametrize("verb", VERBS)
def test_help_names_every_flag_of_the_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(verb, ["--help"], "")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    levels = [shown.find(level.value) for level in Level]
    assert [at for at in levels if at >= 0] == sorted(at for at in levels if at >= 0)
    flags = [option.flag for option in OPTIONS.values() if option.flag and verb in option.verbs]
    assert [
        flag for flag in [*flags, "--table", "--request", "--report", "--report-nonce"] if flag not in shown
    ] == []
