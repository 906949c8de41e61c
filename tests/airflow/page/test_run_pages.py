"""The pages of one DAG run, and of one task of it."""

from __future__ import annotations

import pytest

from tests.airflow.page.conftest import NOW, event
from tests.airflow.page.seen import COMPACTED, REWRITTEN, night, text

ROLLED_BACK = {"table": "sales.events", "outcome": "done", "rewritten": REWRITTEN}
ROLLED_BACK |= {"held_bytes": 0, "held_runs": 0, "held_since": None}


def test_the_page_of_a_run_says_what_was_left_and_why(client, recorded):
    recorded(*night())
    shown = text(client("admin").get("/lakekeeper/run?dag_id=nightly&run_id=scheduled__1"))
    assert "Tables compacted 1" in shown
    assert "Not compacted, and why" in shown
    assert "date=b" in shown
    assert "late" in shown


@pytest.mark.parametrize("index", ["-1", "{MAP_INDEX}", ""])
def test_the_tab_of_a_task_that_is_not_mapped(client, recorded, index):
    """Airflow's UI sends its placeholder where there is no index."""
    recorded(*night())
    run = "dag_id=nightly&run_id=scheduled__1&task_id=compact"
    assert "600 &rarr; 6" in client("admin").get(f"/lakekeeper/task?{run}&map_index={index}").text


def test_the_tab_of_a_task_shows_its_report_or_that_there_is_none(client, recorded):
    recorded(*night())
    asked = client("admin")
    base = "/lakekeeper/task?dag_id=nightly&run_id=scheduled__1"
    assert "600 &rarr; 6" in asked.get(f"{base}&task_id=compact&map_index=-1").text
    assert "No report" in asked.get(f"{base}&task_id=other&map_index=-1").text


@pytest.mark.parametrize("name", ["dag_id", "run_id", "task_id", "map_index"])
@pytest.mark.parametrize(
    ("value", "codes"), [("%00", {404}), ("9" * 5_000, {200, 403, 404}), ("%ff", {200, 403, 404})]
)
@pytest.mark.parametrize("page", ["run", "task"])
def test_an_odd_name_of_a_run_is_none(client, recorded, page, name, value, codes):
    recorded(*night())
    query = "dag_id=nightly&run_id=scheduled__1&task_id=compact&map_index=-1"
    odd = "&".join(f"{name}={value}" if each.startswith(name) else each for each in query.split("&"))
    assert client("admin").get(f"/lakekeeper/{page}?{odd}").status_code in codes


@pytest.mark.parametrize(
    ("verb", "told", "said"),
    [
        ("rollback", {"rewritten": REWRITTEN}, "600 &rarr; 6"),
        ("cleanup", {"freed_bytes": 2_048}, "2.0 KB"),
        ("analyze", {"files": 77, "partitions": 1}, "77"),
    ],
)
def test_the_page_of_a_run_without_a_compaction_says_what_was_done(client, recorded, verb, told, said):
    recorded(event({"table": "sales.events", "outcome": "done", **told}, verb=verb))
    shown = text(client("admin").get("/lakekeeper/run?dag_id=nightly&run_id=scheduled__1"))
    assert f"sales.events {verb} done" in shown
    assert said in shown
    assert "No job of this DAG run has left a result" not in shown


def test_a_rollback_that_has_restored_nothing_undoes_nothing_on_the_page_of_a_run(client, recorded):
    refused = {"table": "sales.events", "outcome": "refused"}
    elsewhere = event({**COMPACTED, "rewritten": REWRITTEN}, verb="rollback", at=NOW, server="hiveb:10000")
    recorded(*night(), event(refused, verb="rollback", at=NOW))
    recorded(elsewhere)
    page = client("admin").get("/lakekeeper/run?dag_id=nightly&run_id=scheduled__1")
    assert "rolled back</span>" not in page.text
    assert "Originals held 2.9 KB" in text(page)
    recorded(event(ROLLED_BACK, verb="rollback", at=NOW))
    page = client("admin").get("/lakekeeper/run?dag_id=nightly&run_id=scheduled__1")
    assert "rolled back</span>" in page.text
    assert "Originals held 0 B" in text(page)


class TestWhatIsHeldOfTheCompactedTables:
    """It is of a whole table: of earlier runs too, and as the newest job says that the user may know of."""

    def shown(self, client, user="admin"):
        return text(client(user).get("/lakekeeper/run?dag_id=nightly&run_id=scheduled__1"))

    def test_originals_of_earlier_runs_stay_when_this_run_was_rolled_back(self, client, recorded):
        recorded(*night(), event({**ROLLED_BACK, "held_bytes": 100, "held_runs": 1}, verb="rollback", at=NOW))
        assert "Originals held 100 B" in self.shown(client)

    @pytest.mark.parametrize("verb", ["analyze", "cleanup", "compact", "rollback"])
    def test_a_job_of_another_dag_has_looked_since(self, client, recorded, verb):
        told = {"table": "sales.events", "outcome": "done", "held_bytes": 50, "held_runs": 1}
        recorded(*night(), event(told, verb=verb, dag_id="team_b", run_id="r2", at=NOW))
        assert "Originals held 50 B" in self.shown(client)
        assert "Originals held 2.9 KB" in self.shown(client, "reader")

    def test_a_job_of_another_dag_has_looked_before(self, client, recorded):
        told = {"table": "sales.events", "outcome": "done", "held_bytes": 50, "held_runs": 1}
        recorded(*night(), event(told, dag_id="team_b", run_id="r2"))
        assert "Originals held 2.9 KB" in self.shown(client)

    def test_tables_that_this_run_has_not_compacted_do_not_count(self, client, recorded):
        nothing = {"table": "hr.people", "outcome": "nothing", "held_bytes": 70, "held_runs": 1}
        recorded(*night(), event(nothing, verb="compact"))
        assert "Originals held 2.9 KB" in self.shown(client)


class TestWhatAnotherDagHasRolledBack:
    RUN = "/lakekeeper/run?dag_id=nightly&run_id=scheduled__1"

    def shown(self, client, user):
        return "rolled back</span>" in client(user).get(self.RUN).text

    def test_it_is_marked_on_the_page_of_the_run_for_who_may_read_that_dag(self, client, recorded):
        recorded(*night(), event(COMPACTED, verb="rollback", dag_id="team_b", at=NOW))
        assert self.shown(client, "admin")
        assert not self.shown(client, "reader")

    def test_the_rollback_of_another_run_is_not(self, client, recorded):
        recorded(*night(), event(COMPACTED, verb="rollback", dag_id="team_b", at=NOW, run_id="r2"))
        assert not self.shown(client, "admin")
