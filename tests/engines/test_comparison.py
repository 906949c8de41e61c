"""What counts as a difference, and what each engine is asked. Nothing is started."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.engines import hive_rows, questions, shown
from tests.engines.answers import Answer, difference, of_rows, record
from tests.engines.play import BEFORE, COMPACTED, IN_PART, RESTORED, TABLES, Played
from tests.engines.questions import ALL, SCANNED
from tests.engines.readers import FILES, HIVE_3, HIVE_4

TABLE = "s_orc"
WARNING = "NAN_STATISTICS: minimum and maximum of 'd' are NaN in stripes of the new files"


def _answer(ids: Sequence[int]) -> Answer:
    return of_rows([(id,) for id in ids])


def _played(
    reader: str,
    before: tuple[str, str],
    after: tuple[str, str],
    *,
    phase: str = COMPACTED,
    warnings: Sequence[str] = (),
) -> Played:
    """Return what a reader answers to a condition on a column with a NaN, and to the scan; each digit is a row."""

    def answers(found: tuple[str, str]) -> dict[str, Answer]:
        condition, scan = (_answer([int(digit) for digit in digits]) for digits in found)
        return {"d": condition, f"d{SCANNED}": scan}

    played = Played({BEFORE: {(reader, TABLE): answers(before)}, phase: {(reader, TABLE): answers(after)}})
    played.reports[COMPACTED] = {TABLE: {"code": None, "outcome": "done", "warnings": warnings, "units": []}}
    return played


@pytest.mark.parametrize(
    ("reader", "before", "after", "phase", "warnings"),
    [
        (HIVE_3, ("12", "123"), ("123", "123"), COMPACTED, ()),
        (HIVE_3, ("12", "123"), ("12", "123"), RESTORED, ()),
        (HIVE_3, ("1", "123"), ("12", "123"), IN_PART, ()),
        (HIVE_4, ("12", "123"), ("123", "123"), COMPACTED, ()),
        (HIVE_4, ("12", "123"), ("1", "123"), COMPACTED, (WARNING,)),
        (HIVE_4, ("12", "123"), ("1", "123"), IN_PART, ()),
    ],
)
def test_rows_that_hive_skipped_before_may_come_back(
    reader: str, before: tuple[str, str], after: tuple[str, str], phase: str, warnings: Sequence[str]
) -> None:
    assert _played(reader, before, after, phase=phase, warnings=warnings).differences(reader, TABLE) == []


@pytest.mark.parametrize(
    ("reader", "before", "after", "phase", "warnings"),
    [
        # A row is lost, or fewer are read than there are, or more, or the table has others.
        (HIVE_3, ("12", "123"), ("13", "123"), COMPACTED, ()),
        (HIVE_3, ("1", "123"), ("12", "123"), COMPACTED, ()),
        (HIVE_3, ("12", "123"), ("1234", "123"), COMPACTED, ()),
        (HIVE_3, ("12", "123"), ("12", "12"), COMPACTED, ()),
        (HIVE_3, ("12", "123"), ("123", "123"), RESTORED, ()),
        (HIVE_3, ("12", "123"), ("1", "123"), IN_PART, ()),
        (HIVE_4, ("12", "123"), ("12", "123"), COMPACTED, ()),
        (HIVE_4, ("12", "123"), ("14", "123"), COMPACTED, (WARNING,)),
    ],
)
def test_no_other_row_may_differ(
    reader: str, before: tuple[str, str], after: tuple[str, str], phase: str, warnings: Sequence[str]
) -> None:
    assert _played(reader, before, after, phase=phase, warnings=warnings).differences(reader, TABLE)


def test_rows_are_counted() -> None:
    assert not difference(_answer([1, 2, 1]), _answer([1, 1, 2]))
    assert "lost 1 rows ['[1]'], more none" in difference(_answer([1, 2, 1]), _answer([1, 2]))


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1, 1.0), (None, "null"), ("", None), ("1", 1)])
def test_values_that_differ_stay_different(one: object, other: object) -> None:
    assert of_rows([(one,)]).rows != of_rows([(other,)]).rows


def test_a_column_that_a_file_lacks_is_null() -> None:
    assert record({"id": 1, "B": None}) == record({"ID": 1})
    assert record({"id": 1, "b": ""}) != record({"id": 1})


def test_a_failure_is_a_difference_unless_it_was_there_before() -> None:
    failed = Answer(error="no such type")
    assert difference(_answer([1]), failed)
    assert difference(failed, _answer([1]))
    assert not difference(failed, Answer(error="no such type in another file"))


@pytest.mark.parametrize("dialect", ["hive", "trino"])
def test_each_column_of_a_primitive_type_has_a_condition_that_some_row_meets(dialect: str) -> None:
    rows = [tuple(None if value == "\\N" else value for value in row) for row in hive_rows._rows()]
    found = questions.statements(dialect, "t", hive_rows.TYPES, rows)
    assert set(found) == {
        name for name in hive_rows.TYPES if name not in ("bin", "arr", "arrs", "m", "st", "nest", "un")
    }
    assert not any("IS NULL" in statement for statement in found.values())
    assert questions.with_nan(hive_rows.TYPES, rows) == ["f", "d"]


def test_a_third_of_the_tables_with_each_format_is_in_the_default_set() -> None:
    chosen = [table for table in TABLES.values() if table.default]
    assert len(TABLES) / 4 < len(chosen) <= len(TABLES) / 3
    assert {table.stored for table in chosen} == {"PARQUET", "ORC", "AVRO", "TEXTFILE", "SEQUENCEFILE"}


def test_the_page_names_what_differs() -> None:
    played = _played(HIVE_3, ("12", "123"), ("13", "123"))
    played.answers[BEFORE][HIVE_3, TABLE][ALL] = Answer(error="no such type")
    text = shown.page(list(shown._rows(played, HIVE_3, TABLE)))
    assert text.endswith("| Spark 3.5 | ORC | all types; NaN | **different** |\n")
    assert played.readers(FILES, TABLE) == []
