"""Each guard of a compaction against faults by itself: deaths, lost answers, late tasks, odd tables.

See test_guards_writers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.values.model import TableName, parent
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import HOME, LIVE, append, compact, into, only, out, outcomes
from tests.crash.model_spark import ModelFooters, encode_rows, visible_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster


def _written(sim: SimulatedCluster) -> str:
    """The directory with the rewritten files, before it goes live."""
    (new,) = {
        parent(path)
        for path, _, inode in sim.tree.walk(HOME)
        if "/__compact_tmp_" in path and not inode.is_dir
    }
    return new


class TestFaults:
    @pytest.mark.parametrize("moment", [out, into])
    def test_whoever_comes_next_settles_what_a_death_left(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool]
    ) -> None:
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(moment)))
        assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
        assert check(flat, journaled=False) == []

    def test_what_is_not_whole_any_more_does_not_go_live(self, flat: SimulatedCluster) -> None:
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(out)))
        new = next(
            path for path, _, inode in flat.tree.walk(HOME) if "/__compact_tmp_" in path and not inode.is_dir
        )
        flat.tree.remove(new)
        compact(flat.client())
        assert check(flat) == []

    @pytest.mark.parametrize("moment", [out, into])
    @pytest.mark.parametrize("fault", [Fault.error_before, Fault.error_after])
    def test_an_answer_of_a_rename_is_not_believed(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool], fault: Callable[..., Fault]
    ) -> None:
        """What has not begun is called off; what is in the middle goes on."""
        report = compact(flat.client(fault(moment)))
        called_off = fault == Fault.error_before and moment == out
        assert outcomes(report) == ["failed" if called_off else "compacted"]
        assert check(flat) == []

    @pytest.mark.parametrize("moment", [out, into])
    @pytest.mark.parametrize("calls", [*range(1, 13), 24, 48])
    def test_a_rename_that_a_server_carries_out_late_finds_no_way_any_more(
        self, flat: SimulatedCluster, moment: Callable[[Point], bool], calls: int
    ) -> None:
        report = compact(flat.client(Fault.late(moment, calls)))
        assert outcomes(report)[0] in ("failed", "compacted")
        flat.catch_up()
        assert check(flat) == []
        assert compact(flat.client(), FLAT, "next")["exit_code"] == 0
        assert check(flat) == []

    def test_a_file_of_a_task_that_ends_late_is_not_taken_for_a_writers(self, flat: SimulatedCluster) -> None:
        """Spark gives a task up, and its executor commits the file all the same: rows that are in the others too."""
        seen: list[str] = []

        def commit(point: Point) -> bool:
            """As the swap is journaled; it is called off then, for the directory is not what was verified."""
            return point.op == "rename" and point.args[1].endswith("/000002.json")

        def late() -> None:
            row = next(iter(visible_rows(flat.tree, LIVE)))
            seen.append(f"{_written(flat)}/part-late.parquet")
            flat.tree.write(seen[0], encode_rows([row]))

        report = compact(flat.client(Fault.hook(commit, late)))
        assert seen
        assert outcomes(report) == ["changed"]
        assert check(flat) == []

    def test_a_file_of_a_task_that_ends_late_does_not_go_live_with_the_others(
        self, flat: SimulatedCluster
    ) -> None:
        row = next(iter(visible_rows(flat.tree, LIVE)))
        with pytest.raises(Killed):
            compact(flat.client(Fault.crash_after(out)))
        flat.tree.write(f"{_written(flat)}/part-late.parquet", encode_rows([row]))
        assert compact(flat.client(), FLAT, "r2")["exit_code"] == 0
        assert check(flat) == []

    def test_a_permission_that_expires_in_the_gap_leaves_the_intent_open(
        self, flat: SimulatedCluster
    ) -> None:
        root = f"{WAREHOUSE}/hourly"
        writers.create_table(flat, "sales.hourly", root, keys=("d", "h"))
        live = writers.add_partition(flat, "sales.hourly", "1", "2")
        for _ in range(4):
            append(flat, live)()

        def expire() -> None:
            flat.tree.readonly = frozenset({parent(live)})

        client = flat.client(Fault.hook(lambda p: p.op == "rename" and p.args[1] == live, expire))
        assert outcomes(compact(client, "sales.hourly")) == ["failed"]
        flat.tree.readonly = frozenset()
        assert compact(flat.client(), "sales.hourly", "r2")["exit_code"] == 0
        assert check(flat) == []

    def test_a_table_beside_which_nothing_can_be_written_is_refused_before_any_work(
        self, flat: SimulatedCluster
    ) -> None:
        flat.tree.readonly = frozenset({WAREHOUSE})
        client = flat.client()
        assert only(compact(client))["code"] == "NOT_WRITABLE"
        assert not any(point.op in ("footers", "raw_rename") for point in client.trace)

    def test_one_odd_table_does_not_stop_the_others(
        self, flat: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = flat.client()
        read = client.metastore.table

        def odd(name: TableName) -> Any:
            if str(name) == EVENTS:
                raise ValueError("a type that nobody has heard of")
            return read(name)

        monkeypatch.setattr(client.metastore, "table", odd)
        report = run(client, "compact", "--database", "sales")
        assert {t["table"]: t["outcome"] for t in report["tables"]} == {EVENTS: "failed", FLAT: "done"}

    @pytest.mark.parametrize("verb", ["analyze", "compact", "rollback", "cleanup"])
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("older_than", "7 days"),
            ("target_file_size", "7 days"),
            ("idle_for", "9999999999w"),
            ("partitions", "[" * 5000),
            ("lease_wait", "3650d"),
            ("lease_timeout", "0s"),
            ("parallelism", "100000"),
            ("skip_trash", "true"),
        ],
    )
    def test_a_property_that_does_not_count_is_named_and_stops_no_table(
        self, flat: SimulatedCluster, verb: str, name: str, value: str
    ) -> None:
        root = f"{WAREHOUSE}/odd"
        writers.create_table(flat, "sales.odd", root, **{f"lakekeeper.{name}": value})
        report = run(flat.client(), verb, "--tables", f"sales.odd,{FLAT}")
        odd, other = report["tables"]
        assert all(table["outcome"] in ("done", "nothing") for table in (odd, other))
        (warning,) = odd["warnings"]
        assert warning.startswith(f"PROPERTY_IGNORED: the property 'lakekeeper.{name}' = '{value[:7]}")
        assert "of table sales.odd is ignored: " in warning
        assert not [text for text in other["warnings"] if text.startswith("PROPERTY_IGNORED")]
        assert report["exit_code"] == 0

    def test_one_odd_unit_does_not_stop_the_others(
        self, flat: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        footer = ModelFooters._footer

        def odd(self: ModelFooters, file: str) -> Footer:
            if "/k=a/" in file:
                raise ValueError("a footer that no parser expects")
            return footer(self, file)

        monkeypatch.setattr(ModelFooters, "_footer", odd)
        assert outcomes(compact(flat.client(), EVENTS)) == ["failed", "compacted", "compacted"]
