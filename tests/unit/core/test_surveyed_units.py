"""The figures of earlier listings: for how long they hold, and how they travel with a snapshot."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.survey import (
    SurveyedUnit,
    Verdict,
    basis,
    decode_survey,
    encode_survey,
    find,
    merged,
    usable,
)
from spark_jobs.core.records import journal
from spark_jobs.core.records.change import change_of
from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.core.records.snapshots import CLEANUP, BrokenLog
from spark_jobs.core.rules.due import FileFigures
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.rules.health import SizeFigures, Thresholds, assess, reassess
from spark_jobs.core.values.model import FileEntry, FileListing, Unit
from tests.unit.core.faulty_memory_fs import NOW, MemoryFs, files, run_state, swap
from tests.unit.core.memory_log import compact, log

UNIT = Unit((("p", "1"),), "file:/t/p=1")
LISTED = 10_000_000


def seen(mtime: int = 1_000_000, closed: bool = True) -> SurveyedUnit:
    manifest = files("a", "b", size=10)
    return SurveyedUnit.of(UNIT, mtime, LISTED, closed, assess(manifest, Thresholds()), manifest.fingerprint)


def test_figures_hold_for_what_nobody_touched_for_an_hour_before_and_ever_since() -> None:
    assert usable(seen(), 1_000_000)
    assert not usable(seen(), 1_000_001)
    assert not usable(seen(closed=False), 1_000_000)
    limit = LISTED - 3_600_000
    assert not usable(seen(mtime=limit), limit)
    assert usable(seen(mtime=limit - 1), limit - 1)


def test_figures_are_of_one_place() -> None:
    known = {UNIT.key: seen()}
    assert find(known, UNIT, 1_000_000) == seen()
    assert find(known, replace(UNIT, location="f:/elsewhere"), 1_000_000) is None
    assert find({}, UNIT, 1_000_000) is None


def test_figures_are_judged_by_the_thresholds_of_today() -> None:
    large = Thresholds(block_size=100, target_file_size=10)
    assert seen().health(Thresholds()).needs_compaction
    assert not seen().health(large).needs_compaction
    assert (
        seen().health(large)
        == assess(files("a", "b", size=10), large)
        == reassess(SizeFigures(2, 20, 10, 10), large)
    )


_SIZES = st.lists(
    st.one_of(st.integers(0, 3 << 20), st.integers(10 << 20, 300 << 20)), min_size=1, max_size=200
)


@given(_SIZES, st.integers(1, 64), st.sampled_from([0.0, 1.0, 10.0, 500.0]))
def test_by_auto_figures_decide_as_the_files_do(sizes: list[int], small_files: int, per_gb: float) -> None:
    thresholds = Thresholds(min_small_files=small_files, min_files_per_gb=per_gb)
    listing = FileListing.of(FileEntry(f"f{n}", size, n) for n, size in enumerate(sizes))
    figures = FileFigures.of(listing, thresholds.small_file, 10**6, thresholds.large_from)
    health = assess(listing, thresholds)
    kept = SurveyedUnit.of(UNIT, 1, LISTED, True, health, listing.fingerprint, figures)
    assert kept.decides(thresholds)
    assert kept.health(thresholds) == health


@pytest.mark.parametrize(
    ("options", "enough"),
    [
        ({}, True),
        ({"min_small_files": 1}, True),
        ({"target_file_size": 1 << 20}, False),
        ({"block_size": 1 << 20}, False),
        ({"target_file_size": 1 << 20, "min_input_files": 9}, True),
        ({"target_file_size": 1 << 20, "strategy": "full"}, True),
        ({"strategy": "minor"}, False),
        ({"ratio": 5}, False),
    ],
)
def test_figures_decide_by_the_bounds_for_which_they_were_made(options: dict[str, Any], enough: bool) -> None:
    before, now = Thresholds(), Thresholds(**options)
    listing = files("a", "b", size=10)
    figures = FileFigures.of(listing, before.small_file, 10**6, before.large_from)
    kept = SurveyedUnit.of(UNIT, 1, LISTED, True, assess(listing, before), listing.fingerprint, figures)
    assert kept.decides(now) is enough
    assert not replace(kept, figures=None).decides(before)


def test_a_look_at_some_units_keeps_the_figures_of_the_others_that_still_exist() -> None:
    other, gone = replace(seen(), unit="other"), replace(seen(), unit="gone")
    newer = replace(seen(), files=7)
    found = merged({UNIT.key: seen(), "other": other, "gone": gone}, [newer], {UNIT.key, "other"})
    assert found == {UNIT.key: newer, "other": other}


def test_figures_travel_with_a_snapshot_until_newer_ones_come() -> None:
    fs = MemoryFs()
    assert log(fs).survey() == {}
    log(fs).publish(compact(), {UNIT.key: seen()})
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.CLEANED)
    second = log(fs).publish(change_of("r", state, CLEANUP))
    assert second is not None
    assert log(fs).survey() == {UNIT.key: seen()}
    fs.time = NOW + timedelta(hours=2)
    log(fs).sweep()
    assert log(fs).survey() == {UNIT.key: seen()}


def test_torn_figures_are_named() -> None:
    with pytest.raises(BrokenLog, match="survey-1"):
        decode_survey(gzip.compress(b"[]"), "survey-1")


def test_files_that_cannot_be_fewer_are_known_until_an_option_changes() -> None:
    settled = seen().as_irreducible(2, Thresholds(), None)
    assert settled.health(Thresholds()) == replace(
        seen().health(Thresholds()),
        target_files=2,
        needs_compaction=False,
        note="its 2 files cannot be fewer: 2 would be left",
    )
    assert settled.health(Thresholds(), "by-name").needs_compaction
    assert settled.health(Thresholds(target_file_size=1 << 40)).needs_compaction
    assert not settled.is_irreducible(Thresholds(ratio=1)), "then no file below the block size is large"
    minor = Thresholds(strategy="minor")
    assert not settled.is_irreducible(minor)
    assert seen().as_irreducible(2, minor, None).is_irreducible(minor)


def test_verdicts_and_figures_of_files_are_kept() -> None:
    refusal = Refusal(RefusalCode.ENCRYPTED, "a file is encrypted", "a command")
    figures = FileFigures(
        newest=123,
        small_files=2,
        small_below=1000,
        small_bytes=5,
        large_files=1,
        large_bytes=90,
        large_from=50,
    )
    fine = replace(seen(), unit="fine", figures=figures).judge(Verdict.of("b", None, 3))
    known = {
        "fine": fine,
        UNIT.key: seen().judge(Verdict.of("b", refusal)),
        "other": replace(seen(), unit="other"),
    }
    found = decode_survey(encode_survey(known), "survey")
    assert found == known
    again = found[UNIT.key].verdict.refusal
    assert (again.code, again.reason, again.command) == ("ENCRYPTED", "a file is encrypted", "a command")


def test_a_code_that_is_not_known_is_no_verdict() -> None:
    body = unpacked(encode_survey({UNIT.key: seen().judge(Verdict("b"))}), "survey-1")
    body["units"][0]["verdict"]["code"] = "NEWER"
    with pytest.raises(BrokenLog, match="survey-1"):
        decode_survey(packed(body), "survey-1")


@pytest.mark.parametrize("code", ["LENIENT", "TIMEZONE", "CODEC", "NOT_TEXT"])
def test_what_depends_on_settings_is_not_kept(code: str) -> None:
    assert Verdict.of("b", Refusal(RefusalCode[code], "a setting")) is None


def test_a_basis_is_of_all_that_decides_but_not_of_statistics() -> None:
    storage = Storage("file:/t", "i", "s")
    facts = TableFacts(
        "d.t", "EXTERNAL", storage, "hive", {"p": "1", "numRows": "1"}, (("a", "int"),), ("k",)
    )
    known = basis(facts, Thresholds(), None, "1")
    statistics = {"p": "1", "numRows": "2", "transient_lastDdlTime": "3", "spark.sql.statistics.numRows": "4"}
    assert basis(replace(facts, properties=statistics), Thresholds(ratio=2), None, "1") == known
    others = [
        basis(replace(facts, properties={"p": "2"}), Thresholds(), None, "1"),
        basis(replace(facts, columns=(("a", "bigint"),)), Thresholds(), None, "1"),
        basis(replace(facts, storage=replace(storage, properties={"x": "y"})), Thresholds(), None, "1"),
        basis(facts, Thresholds(block_size=1), None, "1"),
        basis(facts, Thresholds(ratio=1), None, "1"),
        basis(facts, Thresholds(strategy="minor"), None, "1"),
        basis(facts, Thresholds(), "by-name", "1"),
        basis(facts, Thresholds(), None, "2"),
    ]
    assert len({known, *others}) == 9


@pytest.mark.parametrize(
    ("code", "by"),
    [
        (RefusalCode.NAN, ["hash"]),
        (RefusalCode.WRONG_STATISTICS, ["count"]),
        (RefusalCode.TYPE, ["count", "hash"]),
    ],
)
def test_a_verdict_on_values_holds_for_one_way_to_compare_them(code: RefusalCode, by: list[str]) -> None:
    verdict = Verdict.of("basis", Refusal(code, "x"))
    assert verdict is not None
    assert [verify for verify in ("count", "hash") if verdict.holds("basis", verify)] == by
    assert not any(verdict.holds("another", verify) for verify in ("count", "hash"))
