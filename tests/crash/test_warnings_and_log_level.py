"""What a job writes to its log: each warning with its code, and as much else as `log_level` says."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import compact, only, out
from tests.crash.scenario import FLAT, build, run

LOG = logging.getLogger("lakekeeper")


@pytest.fixture(autouse=True)
def level_before() -> Iterator[None]:
    """The jobs set the level of the logger."""
    before = LOG.level
    yield
    LOG.setLevel(before)


def test_an_unfinished_run_is_a_warning_with_its_code_in_the_report_and_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(out)))
    (text,) = only(run(sim.client(), "analyze", "--table", FLAT))["warnings"]
    assert text.startswith("RUN_UNFINISHED: run r1 is unfinished")
    assert ("lakekeeper", logging.WARNING, f"{FLAT}: {text}") in caplog.record_tuples


def test_what_a_recovery_has_done_is_a_warning() -> None:
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(out)))
    (text,) = only(run(sim.client(), "rollback", "--table", FLAT))["warnings"]
    assert text.startswith("RUN_RECOVERED: table: run r1 was interrupted (state: ")


@pytest.mark.parametrize("layer", ["arguments", "settings"])
@pytest.mark.parametrize(("level", "shown"), [("ERROR", set()), ("WARNING", {logging.WARNING})])
def test_the_level_of_the_log_may_come_from_the_request(
    layer: str, level: str, shown: set[int], caplog: pytest.LogCaptureFixture
) -> None:
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(out)))
    caplog.clear()
    run(sim.client(), "analyze", "--table", FLAT, request={layer: {"log_level": level}})
    assert {record.levelno for record in caplog.records} == shown


def test_the_command_line_has_the_last_word_on_the_level_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    run(
        build().client(),
        "analyze",
        "--table",
        FLAT,
        "--log-level",
        "info",
        request={"arguments": {"log_level": "ERROR"}},
    )
    assert {record.levelno for record in caplog.records} == {logging.INFO}
