"""A suite's outcome: nothing that ran is lost, and nothing that did not run passes."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.cluster import jars
from tests.harness import needs, suite
from tests.harness.outcome import Outcome, read_junit, summary

ANY = suite.SUITES[0]


@pytest.fixture
def junit(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "OUT", tmp_path)
    report = tmp_path / ANY.slug / "junit.xml"
    report.parent.mkdir()

    def write(tests=0, failures=0, errors=0, skipped=0):
        counts = f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
        report.write_text(f"<testsuites><testsuite {counts}/></testsuites>")

    return write


def test_errors_count_as_failures(junit):
    junit(tests=10, failures=1, errors=2, skipped=3)

    outcome = suite._outcome(ANY, 1, 0)

    assert (outcome.passed, outcome.failed, outcome.skipped) == (4, 3, 3)


def test_an_empty_suite_has_failed(junit):
    junit()

    assert suite._outcome(ANY, suite.NO_TESTS, 0).failed == 1


def test_a_suite_that_skipped_everything_has_failed(junit):
    junit(tests=2, skipped=2)

    assert suite._outcome(ANY, 0, 0).note == "no test ran"


def test_a_suite_without_a_report_has_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "OUT", tmp_path)

    assert suite._outcome(ANY, 4, 0).failed == 1


def test_a_crash_after_the_last_test_has_failed(junit):
    junit(tests=2)

    assert suite._outcome(ANY, 3, 0).note == "pytest ended with 3"


def test_no_report_is_no_test(tmp_path):
    assert read_junit("x", tmp_path / "none.xml", 1.0) == Outcome("x", seconds=1.0)


def test_the_last_line_is_the_plain_total():
    text = summary([Outcome("a", passed=2, skipped=1), Outcome("b", passed=3, failed=1, note="broken")])

    assert text.splitlines()[-1] == "5 passed, 1 failed, 1 skipped"


@pytest.mark.parametrize(("required", "failed"), [("required", 1), ("", 0)])
def test_a_suite_that_cannot_run_here_is_named_aloud(monkeypatch, required, failed):
    monkeypatch.setenv(suite.CLUSTER, required)

    text = summary([suite.not_run(ANY, "there is no mvn")])

    assert f"!!! {ANY.name} DID NOT RUN" in text
    assert text.endswith(f"0 passed, {failed} failed, 0 skipped")


def test_without_maven_a_suite_of_the_cluster_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(jars, "HOME", tmp_path)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    assert "apt-get install maven" in needs.lack(("jars",))
    assert "apt-get install krb5-kdc" in needs.lack(("kerberos",))


def test_suites_run_side_by_side_and_those_that_may_not_run_alone(monkeypatch):
    meeting, running, beside = threading.Barrier(suite.AT_ONCE), set(), {}

    def run(each, _):
        running.add(each)
        if not each.alone:
            meeting.wait(10)  # breaks, where nobody runs beside this one
        beside[each] = len(running)
        if not each.alone:
            meeting.wait(10)
        running.discard(each)
        return Outcome(each.name)

    monkeypatch.setattr(suite, "run", run)
    monkeypatch.setattr(suite, "at_once", lambda: suite.AT_ONCE)
    together = [each for each in suite.SUITES if not each.alone][: 2 * suite.AT_ONCE]
    alone = [each for each in suite.SUITES if each.alone]
    outcomes = suite.run_all([*alone, *together], 0.0)

    assert [outcome.name for outcome in outcomes] == [each.name for each in [*together, *alone]]
    assert beside == {**dict.fromkeys(together, suite.AT_ONCE), **dict.fromkeys(alone, 1)}


@pytest.mark.parametrize(("gigabytes", "suites"), [(2, 1), (11, 2), (64, suite.AT_ONCE)])
def test_as_many_run_at_once_as_there_is_memory_for(monkeypatch, gigabytes, suites):
    memory = {"SC_PHYS_PAGES": gigabytes * 1024**3 // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(suite.os, "sysconf", memory.get)

    assert suite.at_once() == suites


def test_what_a_suite_prints_is_shown_whole(junit, monkeypatch, capsys):
    junit(tests=1)
    monkeypatch.setattr(suite, "_command", lambda _: [sys.executable, "-c", "print('two'); print('lines')"])

    assert suite.run(ANY, 0.0).passed == 1
    assert "two\nlines\n" in capsys.readouterr().out
