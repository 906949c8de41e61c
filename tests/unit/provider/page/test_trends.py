"""The figures of all tables, their trends, and the last night."""

from __future__ import annotations

import pytest

from lakekeeper_provider.page import night, trends
from tests.unit.provider.page.seen import (
    ALL,
    ANALYSED,
    DAY,
    NOW,
    REWRITTEN,
    all_of,
    record,
    row_of,
    stored,
    tables_of,
)


def test_a_sparkline_has_few_points_and_the_last_one():
    pages = [stored(record(files=n, bytes=1), at=NOW + n, number=n + 1) for n in range(1_000)]
    spark = row_of(*pages).spark
    assert len(spark) <= trends.SPARK
    assert spark[-1] == 999


def test_the_figures_of_all_tables_and_their_trends():
    nights = [
        page
        for day in range(3)
        for page in (
            stored(record(files=1_000, bytes=9, flagged_files=600), at=NOW + (day - 3) * DAY, number=day * 9),
            stored(
                record(rewritten={**REWRITTEN, "files_before": 300}),
                verb="compact",
                at=NOW + (day - 3) * DAY + 60,
                number=day * 9 + 1,
            ),
        )
    ]
    other = stored(record("sales.other", files=5, bytes=5, flagged_files=50), at=NOW - 3 * DAY, number=90)
    found = all_of(*nights, other)
    assert (found.tables, found.small, found.removed) == (2, 350, 3 * 294)
    assert found.trends.removed[-4:] == [294, 294, 294, 0]
    assert found.trends.small.by_day[-5:] == [0, 350, 350, 350, 350]
    assert found.trends.small.known == [350] * 4
    assert found.trends.removed_known == [294, 294, 294, 0]
    assert found.backlog.nights_left == pytest.approx(350 / 294)
    assert not found.backlog.grows


def test_a_backlog_that_grows_by_more_than_is_removed():
    pages = [
        page
        for day in range(4)
        for page in (
            stored(record(files=9_000, bytes=9, flagged_files=600 * (day + 2)), at=NOW + (day - 4) * DAY),
            stored(
                record(rewritten=REWRITTEN), verb="compact", at=NOW + (day - 4) * DAY + 60, number=day + 1
            ),
        )
    ]
    assert all_of(*pages).backlog.grows


def test_the_trend_of_the_originals():
    pages = [
        stored(record(held_bytes=size, held_runs=1), at=NOW - days * DAY, number=10 - days)
        for days, size in ((3, 10), (1, 70))
    ]
    other = stored(record("sales.other", held_bytes=5, held_runs=1), at=NOW - 2 * DAY, number=20)
    assert all_of(*pages, other).trends.held.known == [10, 15, 75, 75]


def test_without_tables_all_figures_are_there():
    found = all_of()
    assert (found.tables, found.small, found.backlog.nights_left, found.open_since) == (0, 0, None, None)
    assert len(found.trends.small.by_day) == trends.DAYS


class TestLastNight:
    def of(self, *pages):
        return night.last_night(list(tables_of(*pages).views(ALL)), "on_demand")

    def compacted(self, name, dag_id, at, number, **outcomes):
        told = record(name, rewritten=REWRITTEN, outcomes={"compacted": 3, **outcomes})
        return stored(told, verb="compact", dag_id=dag_id, at=at, number=number)

    def test_it_is_of_all_maintenance_dags_together(self):
        found = self.of(
            self.compacted("sales.a", "nightly", NOW, 1, deferred=2),
            self.compacted("sales.b", "nightly", NOW + 5, 2, changed=1),
            self.compacted("hr.c", "team", NOW + 3_600, 3, failed=1, quarantined=1),
        )
        assert (found.tables, found.compacted, found.deferred, found.failed) == (3, 9, 3, 2)
        assert found.runs == [("nightly", "scheduled__1", 2), ("team", "scheduled__1", 1)]
        assert found.at == NOW + 3_600

    def test_what_a_person_has_triggered_since_is_no_night(self):
        found = self.of(
            self.compacted("sales.a", "nightly", NOW, 1),
            self.compacted("sales.a", "on_demand", NOW + 13 * 3_600, 2),
        )
        assert (found.runs, found.at) == ([("nightly", "scheduled__1", 1)], NOW)

    def test_where_only_persons_compact_it_is_theirs(self):
        assert self.of(self.compacted("sales.a", "on_demand", NOW, 1)).tables == 1

    def test_a_dry_run_and_one_that_had_nothing_to_do_are_no_night(self):
        done = self.compacted("sales.a", "nightly", NOW, 1)
        dry = stored(record("sales.a", outcomes={"flagged": 3}), verb="compact", at=NOW + 60, number=2)
        nothing = stored(
            {"table": "sales.a", "outcome": "nothing"}, verb="compact", at=NOW + 90, number=3, dag_id="team"
        )
        assert self.of(done, dry, nothing) == self.of(done)

    def test_the_night_before_does_not_count(self):
        found = self.of(
            self.compacted("sales.a", "nightly", NOW - DAY + 6 * 3_600, 1),
            self.compacted("sales.b", "nightly", NOW, 2),
        )
        assert found.tables == 1

    def test_without_a_compaction_there_is_none(self):
        assert self.of(stored(ANALYSED)) is None
