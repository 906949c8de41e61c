from __future__ import annotations

import re

from lakekeeper_provider.launch.request import build_request, run_id_of
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.selection import Selection

EVENTS = Selection(tables=("sales.events", "sales.flat"))


def test_says_only_what_is_known():
    assert build_request(Config(), {}) == {"schema_version": 1}


def test_no_flagged_unit_means_nothing_and_not_everything():
    assert build_request(Config(), {}, units={})["units"] == {}


def test_run_id_fits_the_wire_and_a_file_name():
    long = run_id_of("a" * 250, "scheduled__2026-02-23T01:00:00+00:00", "group.compact", EVENTS)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", long)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", run_id_of("é", "r", "ü", EVENTS))


def test_run_id_is_the_same_for_every_try_and_order_of_tables():
    other = Selection(tables=("sales.flat", "sales.events"))
    assert run_id_of("d", "r", "t", EVENTS) == run_id_of("d", "r", "t", other)


def test_run_id_differs_by_dag_run_task_and_tables():
    ids = {
        run_id_of("d", "r", "t", EVENTS),
        run_id_of("d2", "r", "t", EVENTS),
        run_id_of("d", "r2", "t", EVENTS),
        run_id_of("d", "r", "t2", EVENTS),
        run_id_of("d", "r", "t", Selection(tables=("sales.events",))),
        run_id_of("d", "r", "t", Selection(database="sales")),
    }
    assert len(ids) == 6
