"""Telling other engines of swapped files: what they are sent, and what becomes of their failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import tenacity

from lakekeeper_provider.events.refresh import Refresh, refresh
from lakekeeper_provider.exceptions import UsageError
from tests.unit.provider.test_report import parsed, table, unit


class Engine:
    """A server behind a connection: what it was sent, and how it answers the next statements."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.answers: list[Callable[[], object]] = []

    def connect(self, conn_id: str) -> Callable[[str], object]:
        return self.run

    def run(self, statement: str) -> object:
        self.sent.append(statement)
        return self.answers.pop(0)() if self.answers else None


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(tenacity.nap, "sleep", lambda _: None)
    return Engine()


@pytest.fixture
def silence() -> Iterator[Callable[[], object]]:
    """A server that never answers, until the test has ended."""
    ended = threading.Event()
    yield ended.wait
    ended.set()


def failing() -> object:
    raise ConnectionError("connection refused")


def compacted(name: str = "sales.events", *units: dict, **more):
    return table(name, units=list(units) or [unit("compacted")], **more)


def warnings_of(found) -> list[str]:
    return [text for each in found.tables for text in each["warnings"]]


def told(engine: Engine, each: dict, *tables, verb: str = "compact"):
    found = refresh(Refresh.all_of([each]), parsed("done", *tables, verb=verb), engine.connect)
    return engine.sent, warnings_of(found)


IMPALA = {"conn_id": "impala_default"}
TYPES = {"partition_types": {"date": "string", "hour": "int"}}


def partition(date, hour="1", outcome="compacted"):
    return {**unit(outcome), "unit": {"date": date, "hour": hour}}


@pytest.mark.parametrize(
    ("each", "statement"),
    [
        (IMPALA, "REFRESH `sales`.`events`"),
        ({**IMPALA, "invalidate": True}, "INVALIDATE METADATA `sales`.`events`"),
        (
            {"conn_id": "t", "engine": "trino", "catalog": "lake"},
            "CALL lake.system.flush_metadata_cache(schema_name => 'sales', table_name => 'events')",
        ),
        (
            {"conn_id": "x", "engine": "sql", "statement": "CALL told('{table}', '{database}', '{name}')"},
            "CALL told('sales.events', 'sales', 'events')",
        ),
    ],
)
def test_each_engine_gets_its_statement(engine, each, statement):
    assert told(engine, each, compacted()) == ([statement], [])


@pytest.mark.parametrize("outcome", ["compacted", "restored"])
def test_impala_can_be_told_of_the_partitions_alone(engine, outcome):
    units = [partition("2026-02-23", outcome=outcome), partition("it's \\", None, outcome)]
    sent, _ = told(engine, {**IMPALA, "partitions": True}, compacted("sales.events", *units, **TYPES))
    assert sent == [
        "REFRESH `sales`.`events` PARTITION (`date`='2026-02-23', `hour`=1)",
        "REFRESH `sales`.`events` PARTITION (`date`='it\\'s \\\\', `hour`=NULL)",
    ]


@pytest.mark.parametrize(
    ("units", "types"),
    [
        ([partition("a")] * 101, TYPES),
        ([partition("a")], {"partition_types": {"date": "timestamp", "hour": "int"}}),
        ([partition("a", "x")], TYPES),
        ([partition("a")], {}),
        ([{**unit("compacted"), "unit": {}}], {}),
    ],
    ids=["too many", "another type", "not a number", "unknown types", "no partitions"],
)
def test_where_a_partition_cannot_be_named_the_table_is_refreshed(engine, units, types):
    sent, _ = told(engine, {**IMPALA, "partitions": True}, compacted("sales.events", *units, **types))
    assert sent == ["REFRESH `sales`.`events`"]


def test_tables_of_other_formats_are_refreshed_as_a_whole_and_last(engine):
    """Impala refuses a PARTITION of Iceberg's tables, and knows no Paimon; after a failure nothing more is sent."""
    native = [
        compacted(f"sales.{name}", partition("a"), **TYPES, format=name) for name in ("iceberg", "paimon")
    ]
    tables = [*native, compacted("sales.z", partition("a"), **TYPES)]
    engine.answers = [lambda: None, failing, failing, failing]
    sent, warnings = told(engine, {**IMPALA, "partitions": True}, *tables)
    assert sent == [
        "REFRESH `sales`.`z` PARTITION (`date`='a', `hour`=1)",
        *["REFRESH `sales`.`iceberg`"] * 3,
    ]
    assert len(warnings) == 2


def test_only_tables_with_swapped_units_are_refreshed_also_after_a_failure(engine):
    partly = compacted("sales.b", unit("failed"), unit("compacted"), outcome="partial")
    sent, _ = told(engine, IMPALA, table(outcome="nothing"), partly, compacted("sales.c", unit("flagged")))
    assert sent == ["REFRESH `sales`.`b`"]


def test_a_server_that_fails_twice_is_told_the_third_time(engine):
    engine.answers = [failing, failing]
    assert told(engine, IMPALA, compacted()) == (["REFRESH `sales`.`events`"] * 3, [])


def test_a_server_that_keeps_failing_is_a_warning_with_the_statement(engine):
    engine.answers = [failing] * 3
    _, found = told(engine, IMPALA, compacted(warnings=["CODEC_DIFFERS: snappy"]))
    assert found == [
        "CODEC_DIFFERS: snappy",
        "REFRESH_FAILED: impala_default was not told that the files of sales.events were swapped: ConnectionError:"
        " connection refused. Run there: REFRESH `sales`.`events`",
    ]


@pytest.mark.parametrize(
    "value",
    [
        "${var:x}",
        "a; DROP TABLE b",
        "it's",
        "back\\slash",
        'a"b',
        "a -- b",
        "a /* b",
        "a`b",
        "a\nb",
        "a\u2028b",
    ],
)
@pytest.mark.parametrize("engine_of", ["a partition of impala", "a name of impala", "a name of trino"])
def test_no_statement_is_shown_in_which_a_shell_acts_on_a_name_or_a_value(engine, engine_of, value):
    """impala-shell replaces variables in literals, and Beeline ends a statement there."""
    engine.answers = [failing]
    each, name, units = {**IMPALA, "attempts": 1}, f"sales.{value}", [unit("compacted")]
    if engine_of == "a partition of impala":
        each, name, units = {**each, "partitions": True}, "sales.events", [partition(value)]
    elif engine_of == "a name of trino":
        each = {**each, "engine": "trino"}
    _, found = told(engine, each, compacted(name, *units, **TYPES))
    assert "Run there:" not in found[-1]
    assert found[-1].startswith("REFRESH_FAILED: impala_default was not told that the files of")
    assert "Refresh the table there" in found[-1]


@pytest.mark.parametrize("value", ["a b", "ä", "100 %", "$x", "{x}", "2026-02-23", "a-b", "", "x=y,z (1)"])
def test_a_statement_with_any_other_value_is_shown(engine, value):
    engine.answers = [failing]
    each = {**IMPALA, "partitions": True, "attempts": 1}
    _, found = told(engine, each, compacted("sales.events", partition(value), **TYPES))
    assert found[-1].endswith(f"Run there: REFRESH `sales`.`events` PARTITION (`date`='{value}', `hour`=1)")


def test_a_name_that_begins_a_comment_does_not_stand_in_the_statement_of_a_user(engine):
    each = {"conn_id": "x", "engine": "sql", "statement": "ANALYZE TABLE {table} COMPUTE STATISTICS"}
    sent, found = told(engine, each, compacted("sales.a--b"))
    assert (sent, len(found)) == ([], 1)


def test_a_server_that_never_answers_is_given_up_and_no_other_statement_waits_for_it(engine, silence):
    engine.answers = [silence]
    each = {**IMPALA, "timeout": "1s"}
    sent, found = told(engine, each, compacted("sales.a"), compacted("sales.b"))
    assert sent == ["REFRESH `sales`.`a`"]
    assert [text.rpartition("Run there: ")[2] for text in found] == [
        "REFRESH `sales`.`a`",
        "REFRESH `sales`.`b`",
    ]
    assert all("no answer within 1 s" in text for text in found)


def test_a_connection_that_times_out_is_tried_again(engine):
    """Only a statement that may still be at work is not."""

    def timing_out() -> None:
        raise TimeoutError(110, "Connection timed out")

    engine.answers = [timing_out]
    assert told(engine, IMPALA, compacted()) == (["REFRESH `sales`.`events`"] * 2, [])


def test_another_engine_is_told_although_the_first_one_fails(engine):
    engine.answers = [failing]
    refreshes = Refresh.all_of([{**IMPALA, "attempts": 1}, {"conn_id": "t", "engine": "trino"}])
    found = refresh(refreshes, parsed("done", compacted()), engine.connect)
    assert len(engine.sent) == 2
    assert len(warnings_of(found)) == 1


def test_a_connection_that_does_not_exist_is_a_warning():
    def connect(conn_id: str):
        raise LookupError(f"no connection {conn_id}")

    found = refresh(Refresh.all_of([{**IMPALA, "attempts": 1}]), parsed("done", compacted()), connect)
    assert "LookupError: no connection impala_default" in warnings_of(found)[0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("impala_default", "refresh: expected a list"),
        (["impala_default"], "refresh: expected a mapping with conn_id"),
        ([{"engine": "impala"}], "expected a mapping with conn_id"),
        ([{"conn_id": "c", "engin": "impala"}], "unknown key refresh.engin .did you mean 'engine'"),
        ([{"conn_id": "c", "engine": "imp"}], "refresh.engine: expected one of impala, trino, sql"),
        ([{"conn_id": "c", "engine": "sql"}], "give statement with the engine sql, and only with it"),
        ([{"conn_id": "c", "statement": "x"}], "give statement with the engine sql, and only with it"),
        (
            [{"conn_id": "c", "engine": "sql", "statement": "{tabel}"}],
            "may name {table}, {database} and {name} only",
        ),
        *(
            (
                [{"conn_id": "c", "engine": "sql", "statement": statement}],
                "may name {table}, {database} and {name} only",
            )
            for statement in ("{name[4]}", "{table.real}", "{}", "{table", "{0}")
        ),
        (
            [{"conn_id": "c", "attempts": 0}],
            "refresh.attempts: expected a whole number from 1 to 1000000000, got 0",
        ),
        (
            [{"conn_id": "c", "timeout": "soon"}],
            "refresh.timeout: expected a duration such as 60s, from 0s to 36500d, got 'soon'",
        ),
        ([{"conn_id": "c", "partitions": "maybe"}], "refresh.partitions: expected true or false"),
    ],
)
def test_a_wrong_refresh_is_an_error_that_names_the_value(value, message):
    with pytest.raises(UsageError, match=message):
        Refresh.all_of(value)


@pytest.mark.parametrize("value", [None, "", [], "None"])
def test_none_is_none(value):
    assert Refresh.all_of(value) == []


def test_json_of_a_template_is_accepted():
    assert Refresh.all_of('[{"conn_id": "c", "partitions": "true"}]') == [Refresh("c", partitions=True)]
