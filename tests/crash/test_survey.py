"""The survey that an analysis keeps: who may write and read it, where it is, and that nothing depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.values.model import FileListing
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.model_spark import ModelFooters
from tests.crash.oracle import check
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.test_calls import LATER, WIDE, done, units_in, wide, without_listings
from tests.crash.test_guards_writers import links_instead

ROOT = f"{WAREHOUSE}/wide"
HOME = f"{ROOT}/.lakekeeper"
SURVEYS = f"{HOME}/log/survey"


def surveys(sim: SimulatedCluster) -> list[str]:
    """The names of the files, those of compactions too, but for that of open units."""
    found = sim.tree.get(SURVEYS)
    return sorted(name for name in found.children if not name.startswith("open-")) if found else []


def test_there_is_one_file_whatever_the_number_of_analyses() -> None:
    sim = wide(3)
    for number in range(3):
        done(sim, "analyze")
        assert surveys(sim) == [f"analysis-{number + 1:06}"]
        done(sim, "analyze")
        assert surveys(sim) == [f"analysis-{number + 1:06}"]
        writers.append(sim, f"{ROOT}/k=0000", sim.ledger.fresh(1))
        sim.advance(LATER)


@pytest.mark.parametrize(
    ("partitions", "mode", "kept"), [(999, 0o755, 0), (1000, 0o755, 1), (1000, 0o775, 0)]
)
def test_a_home_is_created_for_many_units_and_where_no_other_account_writes(
    partitions: int, mode: int, kept: int
) -> None:
    sim = wide(partitions)
    sim.tree.remove(HOME, recursive=True)
    sim.tree.change(sim.tree.find(ROOT), mode=mode)
    first, _, _ = done(sim, "analyze")
    assert len(surveys(sim)) == kept
    second, _, listed = done(sim, "analyze")
    assert (second, len(units_in(listed))) == (first, 0 if kept else partitions)
    assert done(sim, "compact", "--run-id", "r", "--where", "k = '0001'")[0]["outcome"] == "done"


@pytest.mark.parametrize(("owner", "kept"), [("etl", 0), (None, 1)])
@pytest.mark.parametrize("log", [False, True])
def test_directories_of_the_home_are_created_only_by_the_account_that_compacts(
    owner: str | None, kept: int, log: bool
) -> None:
    """A first compaction that was killed has left a home without a commit log, or a log without surveys."""
    sim = wide(3)
    if log:
        sim.client().fs.mkdirs(f"{HOME}/log")
    if owner:
        for path in (HOME, f"{HOME}/log") if log else (HOME,):
            sim.tree.change(sim.tree.find(path), owner=owner, mode=0o777)
    done(sim, "analyze")
    assert len(surveys(sim)) == kept
    assert bool(sim.tree.get(f"{HOME}/log")) == (log or bool(kept))


def test_an_account_that_may_not_write_analyses_too() -> None:
    sim = wide(3)
    for path in (ROOT, HOME):
        sim.tree.change(sim.tree.find(path), mode=0o555)
    before = sim.digest()
    first, _, _ = done(sim, "analyze")
    assert (first["outcome"], first["warnings"], sim.digest()) == ("done", [], before)


def test_what_another_account_has_written_does_not_count() -> None:
    sim = wide(3)
    done(sim, "analyze")
    sim.tree.change(sim.tree.find(f"{SURVEYS}/analysis-000001"), owner="mallory")
    assert len(units_in(done(sim, "analyze")[2])) == 3


def test_a_survey_that_cannot_be_read_does_not_count() -> None:
    sim = wide(3)
    first, _, _ = done(sim, "analyze")
    sim.tree.write(f"{SURVEYS}/analysis-000002", b"torn", parents=True)
    second, _, listed = done(sim, "analyze")
    assert (second, len(units_in(listed)), surveys(sim)) == (first, 3, ["analysis-000003"])


def test_a_unit_that_became_a_link_is_refused_though_its_figures_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A directory that was moved keeps its time, and a link to it shows that one."""
    sim = wide(3)
    done(sim, "analyze")
    links_instead(monkeypatch, f"{ROOT}/k=0001")
    (table,) = analysis(sim.client())["tables"]
    codes = {unit["unit"]["k"]: unit["code"] for unit in table["units"]}
    assert codes == {"0000": None, "0001": "SYMLINK", "0002": None}


def analysis(client: Client) -> dict[str, Any]:
    return run(client, "analyze", "--table", WIDE)


def test_a_crash_at_any_call_leaves_nothing_that_an_analysis_or_a_compaction_needs() -> None:
    start = wide(2)
    expected = done(start.copy(), "analyze")[0]
    states = list(crash_states(start, analysis))
    for state in states:
        assert done(state.sim, "analyze")[0] == expected, state
        assert done(state.sim, "compact", "--run-id", "r")[0]["outcome"] == "done", state
        assert check(state.sim) == [], state
        state.sim.advance(LATER)
        done(state.sim, "analyze")
        assert len([name for name in surveys(state.sim) if "analysis" in name]) == 1, state
    # Nothing, the home, its marker, the directory; of the survey and of the open units empty, hidden, whole.
    assert len(states) == 10


def test_two_analyses_at_once_keep_one_survey() -> None:
    sim = wide(2)
    expected = done(sim.copy(), "analyze")[0]
    other = sim.client()

    def meanwhile(point: int, phase: str, _: SimulatedCluster) -> None:
        if other.points == 0 and phase == "before" and client.trace[-1].op == "rename":
            analysis(other)

    client = sim.client(observer=meanwhile)
    (table,) = analysis(client)["tables"]
    assert without_listings(table) == expected
    assert surveys(sim) == ["analysis-000001"]


def conflict(
    self: ModelFooters, directories: Sequence[tuple[str, FileListing]], file_format: str
) -> list[list[Footer]]:
    """Each unit's first file has another type than the others."""
    return [
        [
            replace(footer, leaves={"id": "binary"}, others=()),
            replace(footer, name=footer.others[0], others=footer.others[1:]),
        ]
        for (footer,) in READ(self, directories, file_format)
    ]


READ = ModelFooters.read


def test_a_refusal_by_footers_is_kept_until_the_table_is_described_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = wide(3)
    with monkeypatch.context() as patched:
        patched.setattr(ModelFooters, "read", conflict)
        first, _, _ = done(sim, "analyze")
    assert [unit["code"] for unit in first["units"]] == ["SCHEMA_CONFLICT"] * 3
    second, calls, _ = done(sim, "analyze")
    assert (second, calls["footers"]) == (first, 0)
    table = sim.metastore.databases["sales"]["wide"]
    for properties, footers in (({"transient_lastDdlTime": "1"}, 0), ({"lakekeeper.readers": "by-name"}, 1)):
        facts = replace(table.facts, properties=properties)
        sim.metastore.databases["sales"]["wide"] = replace(table, facts=facts)
        report, calls, _ = done(sim, "analyze")
        assert calls["footers"] == footers
    assert [unit["outcome"] for unit in report["units"]] == ["flagged"] * 3
