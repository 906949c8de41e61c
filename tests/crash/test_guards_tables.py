"""What a compaction leaves alone, by table, partition and file: see test_guards_writers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.values.model import name_of
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.flat_table import LIVE, compact, only, outcomes
from tests.crash.model_spark import ModelFooters, visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster


class TestLeftAlone:
    def test_no_table_of_the_originals_where_nobody_wants_one(self) -> None:
        sim = build()
        request = {"arguments": {"register_backup": False}}
        report = run(sim.client(), "compact", "--table", FLAT, request=request)
        assert (only(report)["backup_table"], outcomes(report)) == (None, ["compacted"])
        assert [str(name) for name, _ in sim.metastore.tables()] == [EVENTS, FLAT]

    def test_the_table_of_the_originals_goes_to_the_database_that_is_meant_for_it(self) -> None:
        sim = build()
        sim.metastore.databases["guarded"] = {}
        request = {"arguments": {"backup_database": "guarded"}}
        report = run(sim.client(), "compact", "--table", FLAT, request=request)
        name = only(report)["backup_table"]
        assert (name.startswith("guarded.__bkp_"), name.endswith("_flat")) == (True, True)

    @pytest.mark.parametrize(
        ("serde", "code"),
        [("hive.serde.Text", "SERDE"), ("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "SERDE")],
    )
    def test_a_partition_of_another_format_than_its_table(
        self, monkeypatch: pytest.MonkeyPatch, serde: str, code: str
    ) -> None:
        sim = build()
        client = sim.client()
        units = client.metastore.units

        def mixed(facts: Any) -> Any:
            orc = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
            return [
                (unit, replace(storage, input_format=orc, serde=serde) if _is(unit, "a") else storage)
                for unit, storage in units(facts)
            ]

        monkeypatch.setattr(client.metastore, "units", mixed)
        found = {unit["unit"]["k"]: unit["code"] for unit in only(compact(client, EVENTS))["units"]}
        assert found == {"a": code, "b": None, "c": None}

    def test_partitions_that_share_a_directory(self) -> None:
        sim = build()
        writers.add_partition(sim, EVENTS, "twin", location=f"{AUTHORITY}/elsewhere/c")
        found = {unit["unit"]["k"]: unit["code"] for unit in only(compact(sim.client(), EVENTS))["units"]}
        assert found == {"a": None, "b": None, "c": "LOCATION_OVERLAP", "twin": "LOCATION_OVERLAP"}

    @pytest.mark.parametrize(("mark", "code"), [(".hoodie", "HUDI"), ("_delta_log", "DELTA")])
    def test_another_table_format_under_the_root(self, mark: str, code: str) -> None:
        sim = build()
        sim.tree.make_dirs(f"{WAREHOUSE}/events/{mark}")
        assert only(compact(sim.client(), EVENTS))["code"] == code


class TestFiles:
    def test_columns_by_position_need_files_of_one_schema(
        self, built: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place, footer = f"{AUTHORITY}/by_position", ModelFooters._footer
        writers.create_table(built, "sales.by_position", place, **{"parquet.column.index.access": "true"})
        first, *_ = [writers.append(built, place, built.ledger.fresh(1)) for _ in range(3)]

        def renamed(self: ModelFooters, file: str) -> Footer:
            found = footer(self, file)
            return replace(found, leaves={"_col0": "int64"}) if name_of(file) == first else found

        monkeypatch.setattr(ModelFooters, "_footer", renamed)
        (unit,) = only(compact(built.client(), "sales.by_position"))["units"]
        assert unit["code"] == "POSITIONAL"

    def test_files_of_no_length_are_dropped_and_recorded(self, built: SimulatedCluster) -> None:
        built.tree.write(f"{LIVE}/part-empty", b"")
        assert outcomes(compact(built.client())) == ["compacted"]
        (found,) = runs_of(built, [FLAT])
        swap = next(iter(found.state.units.values())).swap
        assert "part-empty" in [file.name for file in swap.originals.files]

    def test_a_file_without_a_footer_fails_its_unit(
        self, built: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only what the footers describe is rewritten: the rows of another file would be left out."""
        read = ModelFooters.read

        def one_less(self: ModelFooters, directories: Any, file_format: str) -> Any:
            found = read(self, directories, file_format)
            return [[replace(footer, others=footer.others[:-1]) for footer in each] for each in found]

        monkeypatch.setattr(ModelFooters, "read", one_less)
        before = visible_rows(built.tree, LIVE)
        report = compact(built.client())
        assert outcomes(report) == ["failed"]
        assert "do not belong to its files" in only(report)["units"][0]["reason"]
        assert visible_rows(built.tree, LIVE) == before

    def test_statistics_are_not_touched_unless_asked_for(self, built: SimulatedCluster) -> None:
        client, asked = built.copy().client(), built.client()
        compact(client)
        compact(asked, FLAT, "r1", "--analyze-stats")
        assert [any(point.op == "analyze" for point in c.trace) for c in (client, asked)] == [False, True]


def _is(unit: Any, value: str) -> bool:
    return bool(dict(unit.spec).get("k") == value)
