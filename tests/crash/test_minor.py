"""A minor compaction: the small files of a unit become fewer, large ones are copied, and the directory is swapped."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.rules import strategy
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.execution.group_writer import WrittenGroup, check_all_written
from spark_jobs.protocol.execution.unit_writer import UnitWriter
from spark_jobs.protocol.execution.written_unit import UnitDraft
from spark_jobs.protocol.planning.inspection import FileGroup
from spark_jobs.protocol.ports import RewriteResult
from tests.crash import writers
from tests.crash.explorer import Proof, after, points, recoveries
from tests.crash.explorer import compact as compact_act
from tests.crash.figures import figures
from tests.crash.flat_table import LIVE, only
from tests.crash.model_spark import ModelFooters, ModelRewriter, encode_rows, visible_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_calls import WIDE, units_in, wide

#: Bytes: the large files of the scenario have more, its small ones less.
TARGET = "400b"
MINOR = ("--strategy", "minor", "--target-file-size", TARGET, "--verify", "count")
LARGE = 2


@pytest.fixture(autouse=True)
def small_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the model have some hundred bytes: without this it would pay to rewrite them all."""
    monkeypatch.setattr(strategy, "_EACH", 0.0)


def mixed() -> SimulatedCluster:
    """sales.flat with six small files, and two large ones."""
    sim = build()
    for _ in range(LARGE):
        writers.append(sim, LIVE, sim.ledger.fresh(100))
    return sim


def _content(sim: SimulatedCluster, least: int = 400) -> dict[str, tuple[bytes, int]]:
    """The content and the time of the large files, by name."""
    found = sim.tree.files(LIVE)
    return {name: (inode.content, inode.mtime) for name, inode in found if len(inode.content) >= least}


def _flat(report: Mapping[str, Any]) -> dict[str, Any]:
    (unit,) = only(report)["units"]
    return dict(unit)


def compact(sim: SimulatedCluster, *words: str) -> dict[str, Any]:
    return run(sim.client(), "compact", "--table", FLAT, *(words or MINOR))


def test_large_files_keep_name_bytes_and_time_and_small_ones_become_one() -> None:
    sim = mixed()
    large, rows = _content(sim), sorted(visible_rows(sim.tree, LIVE))
    assert len(large) == LARGE
    unit = _flat(compact(sim))
    assert (unit["outcome"], unit["strategy"]) == ("compacted", "minor")
    assert (unit["files"], unit["files_after"], unit["rows"]) == (8, 3, 218)
    assert {name: _content(sim)[name] for name in large} == large
    assert sorted(visible_rows(sim.tree, LIVE)) == rows


def test_a_rollback_restores_the_originals() -> None:
    sim = mixed()
    before = {name: (inode.content, inode.mtime) for name, inode in sim.tree.files(LIVE)}
    compact(sim)
    assert run(sim.client(), "rollback", "--table", FLAT)["exit_code"] == 0
    assert {name: (inode.content, inode.mtime) for name, inode in sim.tree.files(LIVE)} == before


def test_a_second_compaction_finds_nothing() -> None:
    sim = mixed()
    compact(sim)
    assert _flat(compact(sim))["outcome"] == "healthy"


def test_the_plan_says_the_same_as_the_compaction() -> None:
    sim = mixed()
    plan = _flat(run(sim.client(), "plan", "--table", FLAT, *MINOR[:4]))
    done = _flat(compact(sim))
    keys = ("strategy", "files", "bytes", "target_files")
    assert [plan[key] for key in keys] == [done[key] for key in keys]
    assert done["files_after"] == plan["target_files"]


def test_rows_that_are_sorted_are_all_rewritten() -> None:
    sim = mixed()
    unit = _flat(compact(sim, *MINOR, "--sort-columns", "id"))
    assert (unit["strategy"], unit["strategy_reason"]) == (
        "full",
        "its rows are sorted, and a sort needs all of them",
    )
    assert not [name for name, _ in sim.tree.files(LIVE) if name.startswith("part-w")]


def test_without_large_files_all_are_rewritten() -> None:
    sim = build()
    unit = _flat(compact(sim))
    assert (unit["strategy"], unit["strategy_reason"]) == ("full", "none of its files has the target size")
    assert unit["files_after"] == 1


def test_a_copy_that_differs_does_not_go_live(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = mixed()
    before = sorted(name for name, _ in sim.tree.files(LIVE))
    copy = ModelRewriter.copy

    def torn(self: ModelRewriter, directory: str, files: Any, target: str) -> dict[str, str]:
        copies = copy(self, directory, files, target)
        path = copies[files.data[0].name]
        content = bytearray(self._fs.read(path))
        content[20:21] = b"9" if content[20:21] != b"9" else b"8"
        self._fs.delete_file(path)
        self._fs.create(path, bytes(content))
        return copies

    monkeypatch.setattr(ModelRewriter, "copy", torn)
    unit = _flat(compact(sim))
    assert unit["outcome"] == "failed"
    assert "is not what" in unit["reason"]
    assert sorted(name for name, _ in sim.tree.files(LIVE)) == before


def test_a_copy_that_is_missing_does_not_go_live(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = mixed()
    before = sorted(name for name, _ in sim.tree.files(LIVE))
    copy = ModelRewriter.copy
    monkeypatch.setattr(ModelRewriter, "copy", lambda *given: dict(list(copy(*given).items())[1:]))
    unit = _flat(compact(sim))
    assert unit["outcome"] == "failed"
    assert "is not what" in unit["reason"]
    assert sorted(name for name, _ in sim.tree.files(LIVE)) == before


def test_what_attempts_of_tasks_leave_does_not_go_live() -> None:
    """Each task of the model dies once in the middle of its copy."""
    sim = mixed()
    assert _flat(compact(sim))["strategy"] == "minor"
    names = [path for path, _, _ in sim.tree.walk(LIVE)]
    assert not [name for name in names if "given-up" in name or "/copies" in name]
    assert check(sim) == []


@pytest.fixture
def widened(monkeypatch: pytest.MonkeyPatch) -> SimulatedCluster:
    """sales.flat with a column that was widened: three small files have the first type, all others the second one."""
    sim = mixed()
    first = sorted(json.loads(inode.content)["rows"][0] for _, inode in sim.tree.files(LIVE) if inode.content)
    read = ModelFooters._footer

    def footer(self: ModelFooters, file: str) -> Footer:
        inode = self._tree.get(file)
        rows = json.loads(inode.content)["rows"] if inode and inode.closed else []
        return replace(read(self, file), leaves={"id": "int32" if rows and rows[0] < first[3] else "int64"})

    monkeypatch.setattr(ModelFooters, "_footer", footer)
    return sim


def test_large_files_keep_their_bytes_beside_small_ones_of_two_schemas(widened: SimulatedCluster) -> None:
    """The small files of each schema become one file."""
    sim = widened
    large, rows = _content(sim), sorted(visible_rows(sim.tree, LIVE))
    unit = _flat(compact(sim))
    assert (unit["outcome"], unit["strategy"]) == ("compacted", "minor")
    assert (unit["files"], unit["files_after"]) == (8, LARGE + 2)
    assert {name: _content(sim)[name] for name in large} == large
    assert sorted(visible_rows(sim.tree, LIVE)) == rows
    report = run(sim.client(), "check", "--table", FLAT, "--read-data")
    assert (report["exit_code"], only(report)["findings"]) == (0, [])


def test_a_check_finds_what_was_written_of_each_schema_whichever_file_is_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The large file has the first name and the second type, so that its schema is the first one of all files."""
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.first", f"{WAREHOUSE}/first")
    live = f"{WAREHOUSE}/first"
    for count in (100, *[3] * 6):
        writers.append(sim, live, sim.ledger.fresh(count))
    narrow = {row for number in range(3) for row in _rows_of(sim, live)[1 + number]}
    _narrow(monkeypatch, narrow)
    words = ("--target-file-size", TARGET)
    (unit,) = only(run(sim.client(), "compact", "--table", "sales.first", *words))["units"]
    assert (unit["outcome"], unit["strategy"], unit["files_after"]) == ("compacted", "minor", 3)
    report = run(sim.client(), "check", "--table", "sales.first", "--read-data")
    assert (report["exit_code"], only(report)["findings"]) == (0, [])


def test_a_file_without_rows_does_not_change_what_a_check_compares(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the first name and the schema of the large file, and is not written."""
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.none", f"{WAREHOUSE}/none")
    live = f"{WAREHOUSE}/none"
    sim.tree.write(f"{live}/part-a-c000.snappy.parquet", encode_rows([]), parents=True)
    narrow = set()
    for _ in range(4):
        rows = sim.ledger.fresh(3)
        narrow |= set(rows)
        writers.append(sim, live, rows)
    writers.append(sim, live, sim.ledger.fresh(100))
    _narrow(monkeypatch, narrow)
    (unit,) = only(run(sim.client(), "compact", "--table", "sales.none", "--target-file-size", TARGET))[
        "units"
    ]
    assert (unit["outcome"], unit["strategy"], unit["files_after"]) == ("compacted", "minor", 2)
    report = run(sim.client(), "check", "--table", "sales.none", "--read-data")
    assert (report["exit_code"], only(report)["findings"]) == (0, [])


def _narrow(monkeypatch: pytest.MonkeyPatch, rows: Collection[int]) -> None:
    """Let files have another schema whose first row is one of these."""
    read = ModelFooters._footer

    def footer(self: ModelFooters, file: str) -> Footer:
        inode = self._tree.get(file)
        found = json.loads(inode.content)["rows"] if inode and inode.closed else []
        return replace(read(self, file), leaves={"id": "int32" if found and found[0] in rows else "int64"})

    monkeypatch.setattr(ModelFooters, "_footer", footer)


def _rows_of(sim: SimulatedCluster, folder: str) -> list[list[int]]:
    """The rows of each file, in the order of the names."""
    return [json.loads(inode.content)["rows"] for _, inode in sorted(sim.tree.files(folder))]


def test_what_has_one_file_of_each_schema_beside_large_ones_is_not_written_again(
    widened: SimulatedCluster,
) -> None:
    sim = widened
    for words in (MINOR, ("--target-file-size", TARGET)):
        compact(sim, *words)
        unit = _flat(compact(sim, *words))
        assert unit["outcome"] == "healthy"
        assert unit["files"] == LARGE + 2
        planning = [word for word in words if word not in ("--verify", "count")]
        assert _flat(run(sim.client(), "analyze", "--table", FLAT, *planning))["outcome"] == "healthy"


@pytest.mark.parametrize("engine", ["spark", "arrow", "auto"])
def test_empty_files_go_away_beside_large_ones_that_keep_their_bytes(engine: str) -> None:
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.empty", f"{WAREHOUSE}/empty")
    live = f"{WAREHOUSE}/empty"
    writers.append(sim, live, sim.ledger.fresh(100))
    (large,) = [(name, inode.content) for name, inode in sim.tree.files(live)]
    for number in range(3):
        sim.client().cluster.fs.create(f"{live}/part-{number}", b"")
    words = ("--table", "sales.empty", "--target-file-size", TARGET, "--engine", engine)
    unit = _flat(run(sim.client(), "compact", *words))
    assert (unit["outcome"], unit["strategy"]) == ("compacted", "minor")
    assert [(name, inode.content) for name, inode in sim.tree.files(live)] == [large]
    assert (unit["files"], unit["files_after"], unit["target_files"]) == (4, 1, 1)


def test_by_auto_large_files_keep_their_bytes_whatever_that_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "_EACH", 10**6)
    sim = mixed()
    large = _content(sim)
    assert _flat(compact(mixed(), *MINOR))["strategy"] == "full"
    unit = _flat(compact(sim, "--target-file-size", TARGET))
    assert (unit["strategy"], unit.get("strategy_reason")) == ("minor", None)
    assert {name: _content(sim)[name] for name in large} == large


def test_a_death_or_an_error_at_each_call_loses_nothing() -> None:
    act = compact_act(FLAT, "r1", *MINOR)
    line = figures("compact in part", "4 modes (crash or error, before or after)")
    proof, start = Proof(line, [FLAT]), after(mixed(), [])
    line.points = points(start, act)
    for turn, (name, state) in enumerate([*proof.crashes(start, act), *proof.errors(start, act)]):
        for recovery in recoveries(act)[turn % 2 :: 2]:
            proof.settle(name, state, recovery)
    assert line.violations == []
    assert line.states > 50


def test_what_an_earlier_job_has_listed_does_not_hide_small_files_beside_a_very_large_one() -> None:
    """Full, the unit would have as many files of the target size as now, or more."""
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.wide", f"{WAREHOUSE}/wide", keys=("k",))
    for value, rows in (("a", [2000, *[3] * 6]), ("b", [3] * 6)):
        location = writers.add_partition(sim, "sales.wide", value)
        for count in rows:
            writers.append(sim, location, sim.ledger.fresh(count))
    done = []
    for _ in range(2):
        sim.advance(24 * 3600)
        words = (*MINOR, "--max-units", "1", "--order", "files-asc")
        report = run(sim.client(), "compact", "--table", "sales.wide", *words)
        done += [unit["unit"]["k"] for unit in only(report)["units"] if unit["outcome"] == "compacted"]
    assert done == ["b", "a"]


def test_a_large_file_that_is_added_before_its_wave_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it was planned, the unit was small enough to be written in one job with the others."""
    sim, draft = build(), UnitWriter.draft
    late: list[str] = []
    rows: list[int] = []

    def add_file(self: UnitWriter, plan: UnitPlan) -> UnitDraft:
        if not late:
            late.append(plan.unit.location)
            writers.append(sim, plan.unit.location, sim.ledger.fresh(100))
            rows.extend(sorted(visible_rows(sim.tree, plan.unit.location)))
        return draft(self, plan)

    monkeypatch.setattr(UnitWriter, "draft", add_file)
    report = run(sim.client(), "compact", "--table", EVENTS, *MINOR)
    (location,) = late
    (unit,) = [each for each in only(report)["units"] if location.endswith(each["unit"]["k"])]
    assert (unit["outcome"], unit["strategy"]) == ("compacted", "minor")
    assert sorted(visible_rows(sim.tree, location)) == rows


def test_the_rows_of_copies_are_compared_too_where_minor_is_a_setting() -> None:
    sim = mixed()
    compact(sim)
    setting = {"schema_version": 1, "settings": {"strategy": "minor", "target_file_size": TARGET}}
    report = run(sim.client(), "check", "--table", FLAT, "--read-data", request=setting)
    assert (report["exit_code"], only(report)["findings"]) == (0, [])


def test_a_check_does_not_ask_whether_a_compaction_would_gain_anything() -> None:
    """By the target size of the setting, the originals were as few as possible."""
    sim = mixed()
    assert _flat(compact(sim, "--verify", "count"))["outcome"] == "compacted"
    setting = {"schema_version": 1, "settings": {"target_file_size": "50b"}}
    report = run(sim.client(), "check", "--table", FLAT, "--read-data", request=setting)
    assert (report["exit_code"], only(report)["findings"]) == (0, [])


def test_units_without_small_files_are_not_listed_again() -> None:
    sim = wide(20, files=3)
    setting = {"schema_version": 1, "settings": {"strategy": "minor", "compaction_ratio_threshold": 10**9}}
    run(sim.client(), "analyze", "--table", WIDE, request=setting)
    client = sim.client()
    report = run(client, "analyze", "--table", WIDE, request=setting)
    assert {unit["outcome"] for unit in only(report)["units"]} == {"healthy"}
    assert units_in([point.args[0] for point in client.trace if point.op == "list"]) == []


def test_a_file_that_no_group_has_written_fails_the_unit() -> None:
    one, other = (FileEntry(name, 10, 0) for name in ("one", "other"))
    group = FileGroup(FileListing.of([one]), None, None)  # type: ignore[arg-type]
    written = WrittenGroup(group, RewriteResult(1))
    check_all_written([written], FileListing.of([one]))
    with pytest.raises(VerificationFailed, match="of 2 files, 1 were written: other"):
        check_all_written([written], FileListing.of([one, other]))
    with pytest.raises(VerificationFailed, match="some of them twice"):
        check_all_written([written, written], FileListing.of([one]))
