"""Layout, journal, recovery, retention and footers: the values that safety rests on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from spark_jobs.core import footers, journal, layout
from spark_jobs.core.errors import Refusal, Unsafe, UsageError, VerificationFailed
from spark_jobs.core.footers import Footer
from spark_jobs.core.journal import Record, Swap, fold
from spark_jobs.core.layout import Home
from spark_jobs.core.model import FileEntry, Manifest
from spark_jobs.core.orc_types import parse_struct
from spark_jobs.core.other_writers import is_staging
from spark_jobs.core.parquet_types import parse_message
from spark_jobs.core.recovery import Where, locate
from spark_jobs.core.retention import Candidate, expired

NOW = datetime(2026, 2, 24, tzinfo=timezone.utc)


def test_homes_hide_behind_a_dot_and_keep_the_leaf_visible() -> None:
    inside = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t/d=1/r=A")
    assert (inside.path, inside.relative("hdfs://nn/w/t/d=1/r=A")) == ("hdfs://nn/w/t/.lakekeeper", "d=1/r=A")
    flat = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t")
    assert (flat.path, flat.relative("hdfs://nn/w/t")) == ("hdfs://nn/w/.lakekeeper-t", "t")
    beside = Home.of("hdfs://nn/w/t", "hdfs://nn/w/t2/d=1")
    assert (beside.path, beside.relative("hdfs://nn/w/t2/d=1")) == ("hdfs://nn/w/t2/.lakekeeper-d=1", "d=1")
    assert Home.of_table("hdfs://nn/w/t", partitioned=True) == inside
    assert Home.of_table("hdfs://nn/w/t", partitioned=False) == flat


def test_ancestors_end_at_the_root() -> None:
    assert layout.ancestors("/t/d=1/r=A", "/t") == ["/t/d=1", "/t"]
    assert layout.ancestors("/elsewhere/x", "/t") == ["/elsewhere"]


@pytest.mark.parametrize(
    "name",
    ["_temporary", ".hive-staging_1", ".spark-staging-x", "_impala_insert_staging", "a._COPYING_", "_tmp.1"],
)
def test_writers_give_themselves_away(name: str) -> None:
    assert is_staging(name)


@pytest.mark.parametrize(
    "name", ["_SUCCESS", "part-0.parquet", ".lakekeeper", "temporary", "date=2026-02-23"]
)
def test_ordinary_names_are_no_staging(name: str) -> None:
    assert not is_staging(name)


def test_run_ids_and_folders() -> None:
    assert layout.check_run_id("a-B_9") == "a-B_9"
    for bad in ("", "a:b", "a.b", "x" * 65, "a\n"):
        with pytest.raises(UsageError):
            layout.check_run_id(bad)
    assert layout.RunFolder.parse("r1-g2.0123456789ab") == layout.RunFolder("r1-g2", "0123456789ab")
    assert layout.RunFolder.parse("lease-7") is None
    assert [layout.generation("r", n) for n in (1, 2)] == ["r", "r-g2"]


def test_carried_files_keep_their_tails() -> None:
    assert layout.fresh_name("part-0.c000.snappy.parquet", "ab") == "part-0-lkab.c000.snappy.parquet"
    assert layout.fresh_name("000000_0", "ab") == "000000_0-lkab"


@pytest.mark.parametrize("name", [".x.inprogress", "_part", "part-0.parquet"])
def test_carrying_a_file_makes_it_neither_visible_nor_hidden(name: str) -> None:
    carried = layout.fresh_name(name, "ab")
    assert carried != name
    assert FileEntry(carried, 1, 1).is_data == FileEntry(name, 1, 1).is_data


def swap(value: str | None = "1") -> Swap:
    files = Manifest.of([FileEntry("a", 1, 2, 3)])
    return Swap(
        spec=(("p", value),),
        live="f:/t/p",
        new="__compact_tmp_1/p",
        old="__old_1/p",
        aside="__undone_1/p",
        conflict="__conflict_1/p",
        live_id="L",
        new_id="N",
        originals=files,
        compacted=files,
        rows=5,
    )


def record(kind: str, minute: int = 0, **body: object) -> Record:
    return Record(kind, NOW + timedelta(minutes=minute), body)


def test_records_survive_the_file_and_unreadable_ones_stop_everything() -> None:
    original = record(journal.PREPARED, swaps=[swap(None).to_json()])
    again = Record.decode(original.encode(), "000001.json")
    assert Swap.from_json(again.body["swaps"][0]) == swap(None)
    assert again.at == original.at
    for bad in (
        b"",
        b"{}",
        b"[]",
        b'{"schema_version": 2, "kind": "RUN", "at": "2026-01-01T00:00:00+00:00"}',
    ):
        with pytest.raises(Unsafe, match="nothing is changed"):
            Record.decode(bad, "000007.json")


def test_a_run_is_what_its_records_add_up_to() -> None:
    one, two = swap("1"), swap("2")
    state = fold(
        [
            record(journal.RUN, table="db.t", homes=["a"], location="f:/t"),
            record(journal.PREPARED, swaps=[one.to_json(), two.to_json()]),
            record(journal.COMMITTED, 5, units=[{"unit": one.unit.key}]),
            record(journal.DISCARDED, 6, units=[{"unit": two.unit.key}]),
            record(journal.BACKUP, backup_table="db.b"),
            record(journal.FINISHED, outcome="partial"),
            record(journal.ENTERED, verb="compact", homes=["b"]),
        ]
    )
    assert state is not None
    assert [(u.kind, u.final) for u in state.units.values()] == [("COMMITTED", False), ("DISCARDED", True)]
    assert (state.homes, state.backup_table, state.outcome) == (("a", "b"), "db.b", None)
    assert state.committed_at == NOW + timedelta(minutes=5)
    assert fold([]) is None


def test_a_journal_that_makes_no_sense_is_not_acted_on() -> None:
    with pytest.raises(Unsafe):
        fold([record(journal.COMMITTED, units=[])])
    with pytest.raises(Unsafe, match="never prepared"):
        fold([record(journal.RUN, table="t"), record(journal.COMMITTED, units=[{"unit": "x"}])])


def test_a_unit_that_still_holds_originals_is_never_prepared_again() -> None:
    first = [record(journal.RUN, table="t"), record(journal.PREPARED, swaps=[swap().to_json()])]
    units = [{"unit": swap().unit.key}]
    for kind in (journal.COMMITTED, journal.ROLLBACK_PREPARED, journal.CLEANUP_CLAIMED):
        with pytest.raises(Unsafe, match=kind):
            fold([*first, record(kind, units=units), first[1]])
    for kind in journal.FINAL:
        assert fold([*first, record(kind, units=units), first[1]]) is not None


def test_a_claim_for_cleanup_does_not_make_a_run_younger() -> None:
    units = [{"unit": swap().unit.key}]
    state = fold(
        [
            record(journal.RUN, table="t"),
            record(journal.PREPARED, swaps=[swap().to_json()]),
            record(journal.COMMITTED, 1, units=units),
            record(journal.CLEANUP_CLAIMED, 90, units=units),
        ]
    )
    assert state is not None
    assert state.committed_at == NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("records", "unfinished"),
    [
        ([], True),
        ([record(journal.FINISHED, outcome="done")], False),
        ([record(journal.FINISHED, outcome="done"), record(journal.ENTERED, verb="rollback")], True),
        (
            [
                record(journal.FINISHED, outcome="done"),
                record(journal.ENTERED, verb="rollback"),
                record(journal.LEFT),
            ],
            False,
        ),
        ([record(journal.PREPARED, swaps=[swap().to_json()]), record(journal.LEFT)], True),
    ],
)
def test_a_run_is_unfinished_while_somebody_is_in_it_or_an_intent_is_open(
    records: list[Record], unfinished: bool
) -> None:
    state = fold([record(journal.RUN, table="t"), *records])
    assert state is not None
    assert state.unfinished is unfinished


def test_a_rollback_does_not_take_the_outcome_of_the_compaction_back() -> None:
    done = [record(journal.RUN, table="t"), record(journal.FINISHED, outcome="done")]
    outcomes = [fold([*done, record(journal.ENTERED, verb=verb)]) for verb in ("rollback", "compact")]
    assert [state.outcome for state in outcomes if state] == ["done", None]


def test_what_could_not_be_carried_belongs_to_the_originals_then() -> None:
    more = Manifest.of([FileEntry("a", 1, 2, 3), FileEntry("late", 1, 2, 4)])
    units = [{"unit": swap().unit.key, "originals": more.to_json()}]
    first = [record(journal.RUN, table="t"), record(journal.PREPARED, swaps=[swap().to_json()])]
    state = fold([*first, record(journal.COMMITTED, units=units)])
    assert state is not None
    assert next(iter(state.units.values())).swap.originals == more


def test_the_directory_that_lies_aside_in_their_place_is_known_from_then_on() -> None:
    units = [{"unit": swap().unit.key, "live_id": "another"}]
    first = [record(journal.RUN, table="t"), record(journal.PREPARED, swaps=[swap().to_json()])]
    state = fold([*first, record(journal.COMMITTED, units=units)])
    assert state is not None
    assert next(iter(state.units.values())).swap == replace(swap(), live_id="another")


def test_every_state_that_no_rule_covers_is_left_alone() -> None:
    known = {
        ("L", None, "N"): Where.BEFORE,
        ("L", None, None): Where.RESTORED,
        ("L", None, "X"): Where.USURPED,
        ("N", "L", None): Where.SWAPPED,
        ("N", "X", None): Where.TAKEN,
        (None, "L", "N"): Where.GAP,
        (None, "L", None): Where.NEW_LOST,
        (None, "L", "X"): Where.DISPLACED,
        (None, "X", "N"): Where.TAKEN_GAP,
        (None, "X", None): Where.TAKEN_GAP,
        (None, "X", "X"): Where.BOTH_ASIDE,
        (None, None, "N"): Where.DROPPED,
        (None, None, "X"): Where.DISPLACED,
        (None, None, None): Where.DROPPED,
        ("X", "L", "N"): Where.RECREATED,
        ("X", "L", None): Where.SUPERSEDED,
        ("X", "L", "X"): Where.OVERTAKEN,
        ("X", "X", "N"): Where.OVERTAKEN,
        ("X", "X", None): Where.OVERTAKEN,
        ("X", "X", "X"): Where.OVERTAKEN,
        ("X", None, "N"): Where.OVERWRITTEN,
        ("X", None, None): Where.OVERWRITTEN,
        ("X", None, "X"): Where.OUTRUN,
    }
    for places in itertools.product([None, "L", "N", "X"], repeat=3):
        assert locate(*places, live_id="L", new_id="N") is known.get(places, Where.UNKNOWN)


def test_retention_keeps_the_young_and_the_newest() -> None:
    runs = [Candidate(f"r{days}", NOW - timedelta(days=days)) for days in (1, 7, 8, 30)]

    def due(older_than: timedelta | None, keep_last: int = 0) -> list[str]:
        return [run.run_id for run in expired(runs, NOW, older_than, keep_last)]

    assert due(timedelta(days=7)) == ["r30", "r8", "r7"]
    assert due(None) == ["r30", "r8", "r7", "r1"]
    assert due(timedelta(days=7), keep_last=3) == ["r30"]
    assert due(None, keep_last=9) == []


MESSAGE = """message spark_schema {
  required int64 Id;
  optional binary s (STRING);
  optional fixed_len_byte_array(5) d (DECIMAL(10,2));
  optional int64 t (TIMESTAMP(MILLIS,true)) = 4;
  optional group arr (LIST) {
    repeated group list {
      optional group element {
        optional int64 x;
      }
    }
  }
}
"""


def test_a_parquet_schema_is_read_by_path_without_nullability() -> None:
    assert parse_message(MESSAGE) == {
        "id": "int64",
        "s": "binary (STRING)",
        "d": "fixed_len_byte_array(5) (DECIMAL(10,2))",
        "t": "int64 (TIMESTAMP(MILLIS,true)) = 4",
        "arr": "group (LIST)",
        "arr.list": "repeated group",
        "arr.list.element": "group",
        "arr.list.element.x": "int64",
    }


def test_an_orc_struct_is_read_by_its_top_fields() -> None:
    text = "struct<a:int,b:array<struct<c:int,d:map<string,int>>>,`we,i:rd`:decimal(10,2),Z:string>"
    assert parse_struct(text) == {
        "a": "int",
        "b": "array<struct<c:int,d:map<string,int>>>",
        "we,i:rd": "decimal(10,2)",
        "z": "string",
    }
    assert parse_struct("struct<>") == {}


def footer(name: str = "a", rows: int = 1, codec: str = "SNAPPY", size: int = 10, **leaves: str) -> Footer:
    return Footer(name, rows, {codec: size}, leaves, {"org.apache.spark.version": "3.5.9"})


def test_a_profile_unites_all_footers() -> None:
    found = footers.profile(
        [footer(id="int64"), footer("b", 2, "GZIP", 90, id="int64", t="int96")], None, "parquet"
    )
    assert (found.rows, found.codec, found.uniform) == (3, "gzip", False)
    assert found.leaves == {"id": "int64", "t": "int96"}
    assert "several codecs (gzip, snappy)" in found.warnings[0]
    assert footers.profile([footer(id="int")], "ZLIB", "orc").codec == "zlib"


def test_conflicting_types_and_foreign_int96_are_refused() -> None:
    with pytest.raises(Refusal, match="'id' is int32 in a and int64 in b"):
        footers.profile([footer(id="int32"), footer("b", id="int64")], None, "parquet")
    with pytest.raises(Refusal, match="UNKNOWN_INT96_WRITER"):
        footers.profile([Footer("a", 1, {}, {"t": "int96"}, {})], None, "parquet")


def test_what_was_written_must_be_what_was_read() -> None:
    before = footers.profile(
        [footer(rows=5, id="int64", d="fixed_len_byte_array(5) (DECIMAL(10,2))")], None, "parquet"
    )
    footers.check_written(before, [footer(rows=5, id="int64", d="fixed_len_byte_array(5) (DECIMAL(10,2))")])
    with pytest.raises(VerificationFailed, match="5 rows were read and 4 written"):
        footers.check_written(before, [footer(rows=4, id="int64")])
    for leaves in ({"id": "int64"}, {"id": "int64", "d": "int64 (DECIMAL(10,2))"}):
        with pytest.raises(Refusal, match="TYPE"):
            footers.check_written(before, [footer(rows=5, **leaves)])
