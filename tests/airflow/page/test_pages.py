"""The pages in Airflow's API server: what they show, and to whom."""

from __future__ import annotations

from datetime import timedelta

import pytest
from airflow.models.dag import DagModel
from airflow.utils.session import create_session

from lakekeeper_provider.page import app, follower
from tests.airflow.page.conftest import NOW, event
from tests.airflow.page.seen import ANALYSED, COMPACTED, TABLE, night, text


def test_an_empty_list_says_what_to_do_first(client, recorded):
    page = client("admin").get("/lakekeeper/")
    assert page.status_code == 200
    assert "Nothing is known yet" in page.text
    assert "lakekeeper_on_demand" in page.text


def test_a_task_that_had_nothing_to_tell_is_no_result_that_could_not_be_read(client, recorded):
    """Airflow records an event of each task that succeeds."""
    recorded(*night(), {**event(verb="compact"), "extra": {}})
    assert "could not be read" not in client("admin").get("/lakekeeper/").text


def test_the_list_has_the_figures_of_all_tables(client, recorded):
    recorded(*night(), event({**ANALYSED, "table": "hr.people", "flagged_files": 5}))
    shown = text(client("admin").get("/lakekeeper/"))
    assert "Small files now 305" in shown
    assert "Files removed, 30 days 594" in shown
    assert "about 1,188 objects of the NameNode, once cleaned up (estimate)" in shown
    assert "Originals held 2.9 KB" in shown
    assert "1 table partitions: 3 compacted, 1 deferred, 0 failed" in shown
    assert shown.index("sales.events") < shown.index("hr.people")


def test_the_list_is_filtered_and_sorted_and_paged_by_the_address(client, recorded):
    many = [{**ANALYSED, "table": f"sales.t{n:03}", "files": n, "flagged_files": n} for n in range(120)]
    recorded(event(*many))
    asked = client("admin")
    first, second = asked.get("/lakekeeper/"), asked.get("/lakekeeper/?page=2")
    assert "120 tables, page 1 of 3" in first.text
    assert "sales.t119" in first.text
    assert "sales.t069" in second.text
    assert "sales.t119" not in second.text
    assert "sales.t000" in asked.get("/lakekeeper/?sort=name").text
    only = asked.get("/lakekeeper/?name=t007")
    assert "1 table, page 1 of 1" in only.text


def test_the_page_of_a_table_has_its_runs_and_what_may_be_done(client, recorded):
    recorded(*night())
    page = client("admin").get(f"{TABLE}sales.events")
    shown = text(page)
    assert "Files 406" in shown
    assert "600 &rarr; 6" in shown
    assert "date=b: deferred: late" in shown
    assert 'data-act="rollback"' in page.text
    assert "3 partitions, 2.9 KB of originals" in page.text
    assert "Roll back the last compaction" in page.text


def test_tables_of_two_hive_servers_are_told_apart_and_acted_on_where_it_is_known(client, recorded):
    recorded(*night())
    other = f"{TABLE.replace('hive:', 'hiveb:')}sales.events"
    recorded(*night(server="HiveB:10000"))
    asked = client("admin")
    assert {"hive:10000", "hiveb:10000"} <= set(text(asked.get("/lakekeeper/")).split())
    for page in (asked.get(f"{TABLE}sales.events"), asked.get(other)):
        assert "of the Hive server" in page.text
        assert "It is not known that the DAG lakekeeper_on_demand works on the Hive server" in page.text
        assert "<button data-act" not in page.text
    recorded(event(ANALYSED, dag_id="lakekeeper_on_demand", server="hiveb:10000"))
    again = client("admin")
    app.follower.stop()
    app.follower = follower.Follower()
    assert "<button data-act" not in again.get(f"{TABLE}sales.events").text
    assert "<button data-act" in again.get(other).text


def test_a_hive_server_that_has_another_name_now_hides_no_button(client, recorded):
    recorded(event(ANALYSED, at=NOW - timedelta(days=8), server="default"))
    recorded(*night())
    assert "<button data-act" in client("admin").get(f"{TABLE}sales.events").text


CLEANED = {"table": "sales.events", "outcome": "done"}


@pytest.mark.parametrize(
    ("cleanups", "list_says", "table_says"),
    [
        ([], "of 1 table; no cleanup has run yet", "no cleanup has run yet"),
        (
            [{"older_than": "1d"}],
            "the next cleanup may delete some of 1 table",
            "the next cleanup may delete",
        ),
        ([{"older_than": "99999d"}], "the first may be deleted from 22", "may delete the oldest from 22"),
        ([{"older_than": "1d", "keep_last": 1}], "the last cleanup keeps them all", "keeps them all"),
        ([{"older_than": 7}], "until a cleanup deletes them", "until a cleanup deletes them"),
    ],
)
def test_until_when_originals_are_held(client, recorded, cleanups, list_says, table_says):
    recorded(*night(), *(event(CLEANED, verb="cleanup", at=NOW, **each) for each in cleanups))
    asked = client("admin")
    figure, rows = text(asked.get("/lakekeeper/")).split("page 1 of 1")
    assert list_says in figure
    assert table_says in rows
    assert table_says in text(asked.get(f"{TABLE}sales.events"))


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (ANALYSED | {"flagged_bytes": 2_048}, "4 partitions, 900 small files of 2.0 KB. The originals"),
        (ANALYSED, "4 partitions, 900 small files. The originals"),
        ({"table": "sales.events", "outcome": "done"}, "a job looks at all partitions, and compacts those"),
        (ANALYSED | {"flagged": 0, "flagged_files": 0}, "nothing is worth it as far as is known"),
    ],
)
def test_the_question_before_a_compaction_says_what_is_known(client, recorded, told, question):
    recorded(event(told))
    page = client("admin").get(f"{TABLE}sales.events").text
    assert f"Compact sales.events: {question}" in page
    assert 'data-does="Compact"' in page


def test_a_job_without_anything_to_do_says_so(client, recorded):
    recorded(event({**ANALYSED, "outcome": "nothing"}))
    assert "nothing to do" in text(client("admin").get("/lakekeeper/"))


def test_an_error_has_a_way_back_to_the_tables(client, recorded):
    assert '<a href="/lakekeeper/">All tables</a>' in client("admin").get(f"{TABLE}sales.none").text


class TestRights:
    PAGES = (
        "/lakekeeper/",
        f"{TABLE}sales.events",
        "/lakekeeper/run?dag_id=nightly&run_id=scheduled__1",
        "/lakekeeper/task?dag_id=nightly&run_id=scheduled__1&task_id=compact",
    )

    @pytest.mark.parametrize("path", PAGES)
    def test_who_has_not_logged_in_is_sent_to_the_login(self, client, recorded, path):
        recorded(*night())
        page = client(None).get(path)
        assert page.status_code == 401
        assert "sales.events" not in page.text
        assert "/auth/login" in page.text

    @pytest.mark.parametrize("path", PAGES)
    def test_a_token_that_is_none_is_refused(self, client, recorded, path):
        asked = client(None)
        asked.cookies.set("_token", "forged")
        assert asked.get(path).status_code == 403

    @pytest.mark.parametrize("path", PAGES[2:])
    @pytest.mark.parametrize("user", ["team_b", "nobody"])
    def test_who_may_not_read_the_dag_gets_nothing_by_the_address(self, client, recorded, path, user):
        recorded(*night())
        page = client(user).get(path)
        assert page.status_code == 403
        assert "sales.events" not in page.text

    @pytest.mark.parametrize("path", PAGES[2:])
    def test_an_airflow_that_reads_the_dag_from_the_path_only_lets_nobody_else_in(
        self, client, recorded, monkeypatch, path
    ):
        """3.1.0 to 3.1.7 ask whether any DAG may be read, where the address has it as a parameter."""
        from airflow.api_fastapi.auth.managers.models import resource_details
        from airflow.api_fastapi.core_api import security

        def without_id(id=None, **others):
            return resource_details.DagDetails(id=None, **others)

        recorded(*night())
        monkeypatch.setattr(security, "DagDetails", without_id)
        assert client("team_b").get(path).status_code == 403
        assert client("reader").get(path).status_code == 200

    @pytest.mark.parametrize("name", ["sales.events", "sales.none"])
    def test_the_address_does_not_tell_which_tables_there_are(self, client, recorded, name):
        recorded(*night())
        page = client("team_b").get(f"{TABLE}{name}")
        assert (page.status_code, "No job has looked at this table" in page.text) == (404, True)

    def test_the_list_has_the_tables_of_readable_dags_only(self, client, recorded):
        recorded(*night(), event({**ANALYSED, "table": "secret.b"}, dag_id="team_b"))
        shown = {
            user: client(user).get("/lakekeeper/").text for user in ("admin", "reader", "team_b", "nobody")
        }
        assert {user: ("sales.events" in page, "secret.b" in page) for user, page in shown.items()} == {
            "admin": (True, True),
            "reader": (True, False),
            "team_b": (False, True),
            "nobody": (False, False),
        }

    def test_the_head_of_a_page_tells_nothing_of_other_dags(self, client, recorded):
        recorded(*night(), event(ANALYSED, version=99))
        assert "history since" not in text(client("nobody").get("/lakekeeper/"))
        assert "newer version" not in text(client("nobody").get("/lakekeeper/"))
        assert "history since" in text(client("admin").get("/lakekeeper/"))
        assert "newer version" in text(client("admin").get("/lakekeeper/"))

    def test_of_a_table_of_two_dags_each_reader_sees_his_own(self, client, recorded):
        recorded(*night(), event({**ANALYSED, "files": 77_777}, dag_id="team_b", at=NOW))
        assert "77,777" not in client("reader").get(f"{TABLE}sales.events").text
        assert "77,777" in client("team_b").get(f"{TABLE}sales.events").text

    def test_who_may_not_trigger_has_no_button_and_is_refused_by_airflow(self, client, recorded):
        recorded(*night())
        reader = client("reader")
        page = reader.get(f"{TABLE}sales.events")
        assert "<button data-act" not in page.text
        assert "You may not trigger the DAG lakekeeper_on_demand" in page.text
        body = {
            "logical_date": None,
            "conf": {"table": "sales.events", "action": "rollback", "dry_run": False},
        }
        asked = reader.post("/api/v2/dags/lakekeeper_on_demand/dagRuns", json=body)
        assert asked.status_code == 403

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
    )
    def test_a_form_of_another_site_triggers_nothing(self, client, recorded, kind):
        """A browser sends the cookie with a form, but asks before it sends JSON elsewhere; Airflow takes only JSON."""
        recorded(*night())
        body = '{"logical_date": null, "conf": {"table": "sales.events", "action": "rollback"}}'
        path = "/api/v2/dags/lakekeeper_on_demand/dagRuns"
        asked = client("admin").post(path, content=body, headers={"Content-Type": kind})
        assert asked.status_code == 422

    def test_an_event_without_a_task_is_not_believed(self, client, recorded):
        recorded(*night(), event({**ANALYSED, "files": 0, "table": "sales.forged"}, dag_id=None))
        assert "sales.forged" not in client("admin").get("/lakekeeper/").text
        assert client("admin").get(f"{TABLE}sales.forged").status_code == 404


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (None, "There is no DAG lakekeeper_on_demand: `lakekeeper init-dags DIRECTORY`"),
        ("is_stale", "There is no DAG lakekeeper_on_demand"),
        ("is_paused", "The DAG lakekeeper_on_demand is paused: unpause it first"),
    ],
)
def test_where_nothing_can_be_triggered_the_page_says_why(client, recorded, column, why):
    recorded(*night())
    with create_session() as session:
        dag = session.get(DagModel, "lakekeeper_on_demand")
        before = {key: getattr(dag, key) for key in ("fileloc", "relative_fileloc", "bundle_name")}
        session.delete(dag)
        if column:
            session.flush()
            states = {"is_stale": False, "is_paused": False, column: True}
            session.add(DagModel(dag_id="lakekeeper_on_demand", **states, **before))
    try:
        page = client("admin").get(f"{TABLE}sales.events").text
        assert why in page
        assert "<button data-act" not in page
    finally:
        with create_session() as session:
            states = {"is_stale": False, "is_paused": False}
            session.merge(DagModel(dag_id="lakekeeper_on_demand", **states, **before))


@pytest.mark.parametrize("path", ["/lakekeeper/", f"{TABLE}none", "/lakekeeper/static/page.js"])
def test_each_answer_has_a_policy_that_runs_no_program_of_a_page(client, recorded, path):
    policy = client("admin").get(path).headers.get("Content-Security-Policy", "none")
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'self'" in policy


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_there_is_no_route_that_writes(client, recorded, method):
    for path in ("/lakekeeper/", "/lakekeeper/table", "/lakekeeper/run", "/lakekeeper/task"):
        assert client("admin").request(method, path).status_code == 405


def test_results_of_a_newer_version_are_counted(client, recorded):
    recorded(*night(), event(ANALYSED, version=99))
    assert "1 results could not be read: of a newer version" in text(client("admin").get("/lakekeeper/"))


ODD = [
    None,
    7,
    True,
    "x",
    [],
    [7],
    [{}],
    {},
    {"x": "y"},
    [{"unit": 7, "files": "x", "owner": [1]}],
    {"since": 7},
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_record_of_wrong_types_is_shown_as_far_as_it_is_one(client, recorded, odd):
    keys = (*COMPACTED, *ANALYSED, "warnings", "warning_codes", "skipped", "writers", "open", "flagged_bytes")
    record = {**dict.fromkeys(keys, odd), "table": "sales.odd"}
    recorded(*(event(record, verb=verb, report=odd, ended=odd) for verb in ("analyze", "compact", "cleanup")))
    asked, run = client("admin"), "dag_id=nightly&run_id=scheduled__1"
    paths = ("/lakekeeper/", f"{TABLE}sales.odd", f"/lakekeeper/run?{run}")
    pages = [asked.get(path) for path in (*paths, f"/lakekeeper/task?{run}&task_id=compact")]
    assert [(page.status_code, "sales.odd" in page.text) for page in pages] == [(200, True)] * 4
