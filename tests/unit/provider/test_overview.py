"""What a night did, as the summary of the maintenance DAG shows it."""

from __future__ import annotations

from typing import Any

from lakekeeper_provider.report.overview import TABLES_SHOWN, Overview


def analysed(name: str, outcome: str = "done", **more: Any) -> dict[str, Any]:
    return {"tables": [{"table": name, "outcome": outcome, **more}]}


def compacted(name: str, outcome: str = "done", **more: Any) -> dict[str, Any]:
    before, after = {"files": 600, "bytes": 2048}, {"files": 3, "bytes": 1024}
    return {"tables": [{"table": name, "outcome": outcome, "before": before, "after": after, **more}]}


def test_it_says_what_was_compacted_what_was_not_and_why():
    night = Overview.of(
        [
            analysed("db.a", skipped={"ACTIVE_WRITER": 2}),
            analysed("db.b", "refused", code="BUCKETED", reason="it is bucketed"),
            None,
        ],
        [
            compacted("db.a", backup_table="db.__bkp_a"),
            compacted("db.c", "partial", reason="1 unit quarantined"),
            compacted("db.d", "failed", reason="disk full"),
            None,
        ],
    )

    assert (
        night.line
        == "2 tables compacted, 1,200 -> 6 files, 4.0 KB -> 2.0 KB, 4 tables with something left undone"
    )
    text = [" ".join(line.split()) for line in night.text().splitlines()]
    assert text[1:] == [
        "compacted outcome files bytes originals can be read in",
        "db.a done 600 -> 3 2.0 KB -> 1.0 KB db.__bkp_a",
        "db.c partial 600 -> 3 2.0 KB -> 1.0 KB -",
        "not, or not all why",
        "db.a 2 partitions skipped: ACTIVE_WRITER",
        "db.b refused: BUCKETED: it is bucketed",
        "db.c partial: 1 unit quarantined",
        "db.d failed: disk full",
    ]
    assert night.figures() == {
        "tables": 2,
        "files_before": 1200,
        "files_after": 6,
        "bytes_before": 4096,
        "bytes_after": 2048,
        "summary": night.line,
    }


def test_a_night_without_work_is_one_line():
    night = Overview.of(None, [None])
    assert night.text() == night.line == "0 tables compacted, 0 -> 0 files, 0 B -> 0 B"


def test_of_many_tables_the_first_are_listed_and_the_others_counted():
    night = Overview.of([], [compacted(f"db.t{number}") for number in range(TABLES_SHOWN + 5)])
    lines = night.text().splitlines()
    assert len(lines) == TABLES_SHOWN + 3
    assert lines[-1].strip() == "... and 5 more"


def test_tables_in_the_shortest_form_of_a_summary_are_counted_too():
    """A summary that is too long for XCom keeps names and outcomes only."""
    night = Overview.of([], [{"tables": [{"table": "db.a", "outcome": "done"}]}, {"tables": []}])
    assert night.line == "1 table compacted, 0 -> 0 files, 0 B -> 0 B"


def test_tables_that_are_not_to_be_compacted_are_no_work_left_undone():
    night = Overview.of(
        [
            analysed("db.__bkp_a", "refused", code="BACKUP", reason="it is a backup"),
            analysed("db.__bkp_b", "refused", code="BACKUP", reason="it is a backup"),
            analysed("db.v", "refused", code="VIEW", reason="it is a view"),
            analysed("db.m", "refused", code="MANAGED", reason="it is managed"),
        ],
        [compacted("db.v", "refused", code="VIEW", reason="it is a view")],
    )
    assert "left undone" not in night.line
    assert [line.strip() for line in night.text().splitlines()[1:]] == [
        "not to compact: 2 BACKUP (db.__bkp_a, db.__bkp_b), 1 VIEW (db.v), 1 MANAGED (db.m)"
    ]


def test_it_counts_the_tables_with_nothing_to_compact():
    night = Overview.of(
        [
            analysed("db.a", flagged=[{"k": "a"}]),
            analysed("db.b", flagged=[]),
            analysed("db.c", "nothing", flagged=[]),
            analysed("db.v", "refused", code="VIEW", reason="it is a view", flagged=[]),
            analysed("db.d", flagged=[], skipped={"QUOTA": 1}),
            {"tables": [], "left_out": {"tables": 9, "idle": 7, "undone": 2}},
        ],
        [compacted("db.a")],
    )
    assert "  nothing to compact: 9 tables" in night.text().splitlines()


def test_of_many_tables_that_are_not_to_be_compacted_only_the_number_is_shown():
    views = [analysed(f"db.v{n}", "refused", code="VIEW", reason="it is a view") for n in range(4)]
    assert "  not to compact: 4 VIEW" in Overview.of(views, []).text().splitlines()


def test_only_what_a_person_can_act_on_is_counted():
    refused = [("db.a", "VIEW"), ("db.b", "TYPE"), ("db.c", "QUOTA")]
    tables = [analysed(name, "refused", code=code, reason="x") for name, code in refused]
    night = Overview.of([*tables, analysed("db.d", skipped={"EMPTY": 3})], [])
    assert night.line.endswith("1 table with something left undone")
    assert "not to compact: 1 VIEW (db.a), 1 TYPE (db.b)" in night.text()
    assert "partitions that cannot be compacted: 3 EMPTY" in night.text()


def test_it_says_what_can_be_rolled_back_and_what_that_holds():
    held = {"held_runs": 2, "held_bytes": 2048, "held_since": "2026-02-20T01:00:00Z"}
    night = Overview.of(
        [analysed("db.a", **{**held, "held_runs": 1}), analysed("db.b", **held)], [compacted("db.a", **held)]
    )
    assert night.held_line == "4 compactions can be rolled back, 4.0 KB held, the oldest of 2026-02-20"
    assert night.held_line in night.text()
    assert Overview.of([analysed("db.a", held_runs=0, held_bytes=0, held_since=None)], []).held_line == ""
