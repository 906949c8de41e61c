"""A suite's outcome: nothing that ran is lost, and nothing that did not run passes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from demo.services import paths
from demo.services.folder_lock import FolderLocked, folder_lock
from tests.cluster import jars
from tests.harness import jobs, needs, results, suite, timings
from tests.harness.job_runner import Ended, Job
from tests.harness.jobs import Plan
from tests.harness.outcome import Outcome, read_report_log, summary
from tests.harness.resources import Usage
from tests.harness.suites import GROUPS, SUITES, environments_of

ANY = SUITES[0]
OUT = Path(".scratch/test")


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "SCRATCH", tmp_path)
    return Plan("default")


@pytest.fixture
def ended(plan):
    """What came out of a suite that ended with this code, and whose tests went like this."""

    def end(code, *tests, reason="", left=(), of=ANY):
        log = plan.report_log(of)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(f"{json.dumps(line)}\n" for line in tests))
        (log.parent / "left.txt").write_text("".join(f"{name}\n" for name in left))
        job = Job(of.name, (), log, {})
        return suite.suite_outcome(of, Ended(job, code, Usage(2, 3, 4), reason), plan)

    return end


def phase(node, when, outcome="passed", seconds=1.0):
    kind = {"$report_type": "TestReport"}
    return {**kind, "nodeid": node, "when": when, "outcome": outcome, "duration": seconds}


def reports(node, setup="passed", call="passed", teardown="passed"):
    phases = {"setup": setup, **({"call": call} if setup == "passed" else {}), "teardown": teardown}
    return [phase(node, when, outcome) for when, outcome in phases.items()]


def test_errors_in_fixtures_count_as_failures(ended):
    outcome = ended(
        1,
        *reports("a"),
        *reports("b", setup="failed"),
        *reports("c", teardown="failed"),
        *reports("d", call="failed"),
        *reports("e", setup="skipped"),
    )

    assert (outcome.passed, outcome.failed, outcome.skipped) == (1, 3, 1)
    assert outcome.usage == Usage(2, 3, 4)


def test_an_empty_suite_has_failed(ended):
    assert ended(suite.NO_TESTS).failed == 1
    assert ended(suite.NO_TESTS, left=["a"]).note == "no test ran"


def test_a_suite_that_skipped_everything_has_failed(ended):
    assert ended(0, *reports("a", setup="skipped")).note == "no test ran"


def test_a_suite_without_a_report_has_failed(plan):
    job = Job(ANY.name, (), Path("none"), {})

    assert suite.suite_outcome(ANY, Ended(job, 4), plan).note == "pytest ended with 4"


def test_a_crash_after_the_last_test_has_failed(ended):
    assert ended(3, *reports("a")).note == "pytest ended with 3"


def test_a_suite_that_was_stopped_says_in_which_test(ended):
    outcome = ended(-15, *reports("a"), phase("b", "setup"), reason="timed out after 5 s")

    assert (outcome.passed, outcome.failed, outcome.note) == (1, 1, "timed out after 5 s in b")


def test_a_line_that_was_cut_off_is_no_report(tmp_path):
    log = tmp_path / "report.jsonl"
    log.write_text("\n".join([*map(json.dumps, reports("a")), '{"$report_type": "TestRep']))

    assert read_report_log("x", log).passed == 1


def test_no_report_is_no_test(tmp_path):
    assert read_report_log("x", tmp_path / "none") == Outcome("x")


def test_the_slowest_tests_are_named_with_their_fixtures(ended):
    outcome = ended(0, *reports("a"), phase("b", "setup", seconds=7), phase("b", "teardown"))

    assert outcome.slowest == ((8.0, "b"), (3.0, "a"))
    assert "8.0 s  b" in summary([outcome], OUT)


def test_the_last_line_is_the_plain_total():
    text = summary([Outcome("a", passed=2, skipped=1), Outcome("b", passed=3, failed=1, note="broken")], OUT)

    assert text.splitlines()[-1] == "5 passed, 1 failed, 1 skipped"


def test_what_failed_is_named_before_the_total(ended):
    outcome = ended(1, *reports("a"), *reports("b", call="failed"), *reports("c", teardown="failed"))

    assert [line.split() for line in summary([outcome], OUT).splitlines()[-5:]] == [
        ["failed:"],
        [ANY.name, "b"],
        [ANY.name, "c"],
        [],
        ["1", "passed,", "2", "failed,", "0", "skipped"],
    ]


def test_a_check_and_a_suite_that_failed_as_a_whole_are_named_too():
    outcomes = [Outcome("mypy", failed=1), Outcome("demo", passed=3, failed=1, note="stopped after 60 s")]

    assert summary(outcomes, OUT).splitlines()[-5:-2] == [
        "failed:",
        "  mypy              see its output above",
        "  demo              stopped after 60 s",
    ]


def test_what_is_left_to_the_other_set_is_counted_by_suite():
    text = summary([Outcome("a", passed=2, left=("x", "y")), Outcome("b", passed=1)], OUT)

    assert "left to `make test-all`: 2 tests, by name in .scratch/test/*/left.txt" in text
    assert any(line.split() == ["a", "2", "tests"] for line in text.splitlines())


@pytest.mark.parametrize(("required", "failed"), [("required", 1), ("", 0)])
def test_a_suite_that_cannot_run_here_is_named_aloud(monkeypatch, required, failed):
    monkeypatch.setenv(suite.CLUSTER, required)

    text = summary([suite.not_run(ANY, "there is no mvn; apt-get install maven")], OUT)

    assert f"0 passed, {failed} failed, 0 skipped" in text.splitlines()
    assert text.splitlines()[-1] == f"!!! {ANY.name} DID NOT RUN: there is no mvn; apt-get install maven"


@pytest.mark.parametrize("lacking", sorted(jobs.OPTIONAL))
@pytest.mark.parametrize(("required", "failed"), [("required", 1), ("", 0)])
def test_what_cannot_be_had_keeps_the_suite_away_that_needs_it(plan, monkeypatch, required, failed, lacking):
    """Packages that do not compile, say: the others go on, and the last line says where to look."""
    monkeypatch.setenv(suite.CLUSTER, required)
    session, log = suite.Session(plan), plan.log("kerberos")
    plan.jobs(SUITES, lint=False)
    session._on_end(Ended(Job(lacking, (), log, {}), 1))
    blocked = Job("kerberos", (), log, {})
    session._on_end(Ended(blocked, None, reason=f"{lacking} failed", blocked_by=lacking))

    assert [(each.name, each.failed, each.missed) for each in session.outcomes] == [
        ("kerberos", failed, True)
    ]
    last = summary(session.outcomes, OUT).splitlines()[-1]
    assert f"{lacking.replace(' ', '-')}/output.txt" in last
    assert jobs.OPTIONAL[lacking] in last


@pytest.mark.parametrize("everything", ["default", "all"])
def test_a_run_of_some_groups_leaves_alone_what_a_whole_run_wrote(tmp_path, monkeypatch, everything):
    """`make lint` beside a `make test` that is going on, or between two halves of `make test-all`."""
    monkeypatch.setattr(paths, "SCRATCH", tmp_path)
    whole, group = Plan(everything), Plan(everything, groups=("cluster", "lint"))
    suite.Session(whole)._fresh([])
    suite.Session(group)._fresh([])

    assert (whole.out / "results.json").exists()
    assert whole.out != group.out


def test_two_runs_of_the_same_suites_do_not_meet(plan):
    who = "another run of the same suites"
    with folder_lock(plan.out, who):
        with pytest.raises(FolderLocked, match=who), folder_lock(Plan("default").out, who):
            pass
        with folder_lock(Plan("default", groups=("lint",)).out, who):
            pass
    with folder_lock(Plan("default").out, who):
        pass


def test_only_what_ran_to_its_end_says_how_long_a_suite_takes(plan):
    """Else a run that was stopped after seconds would have the longest suite start last."""
    session = suite.Session(plan)
    job = Job(ANY.name, (), plan.log(ANY.name), {})
    session._on_end(Ended(job, -15, Usage(20, 0, 0), reason="interrupted"))
    session._on_end(Ended(replace(job, name="other"), None, reason="x failed", blocked_by="x"))
    assert session._seconds == {}
    session._on_end(Ended(job, 1, Usage(20, 0, 0)))
    assert session._seconds == {ANY.name: 20}


def test_a_suite_that_runs_again_shows_nothing_of_its_last_run(plan, ended, monkeypatch):
    monkeypatch.setattr(results, "commit", lambda: "0123abc")
    ended(1, *reports("a", call="failed"))
    plan.log(ANY.name).write_text("FAILED a")
    suite.Session(plan)._results.begin()
    suite.Session(plan)._without_passed([ANY])

    assert not plan.log(ANY.name).exists()
    assert not plan.report_log(ANY).exists()


def test_a_resumed_run_keeps_what_has_passed(plan, ended, monkeypatch):
    """What passed before is in the table again, and its suite is not started."""
    monkeypatch.setattr(results, "commit", lambda: "0123abc")
    ended(0, *reports("a"), *reports("b"))
    passed, missing = ANY, SUITES[1]
    session = suite.Session(plan)
    session._results.begin()
    session._results.add(Outcome(passed.name, passed=2, usage=Usage(7, 8, 9)))
    again = suite.Session(plan)

    assert again._without_passed([passed, missing]) == [missing]
    (kept,) = again.outcomes
    assert (kept.name, kept.passed, kept.usage, kept.note) == (
        passed.name,
        2,
        Usage(7, 8, 9),
        "passed before",
    )


def test_without_maven_a_suite_of_the_cluster_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(jars, "HOME", tmp_path)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    lacks = {each.name: needs.lack(each) for each in SUITES if each.needs}
    assert "apt-get install maven" in lacks["cluster"]
    assert "apt-get install maven krb5-kdc" in lacks["kerberos"]
    assert not any("\n" in text for text in lacks.values())  # each is a line of the summary


@pytest.mark.parametrize(("gigabytes", "suites"), [(2, 1), (11, 2), (64, suite.AT_ONCE)])
def test_as_many_run_at_once_as_there_is_memory_for(monkeypatch, gigabytes, suites):
    memory = {"SC_PHYS_PAGES": gigabytes * 1024**3 // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(suite.os, "sysconf", memory.get)

    assert suite.at_once() == suites


def test_the_last_run_corrects_the_committed_times(tmp_path, monkeypatch):
    monkeypatch.setattr(timings, "COMMITTED", tmp_path / "committed.json")
    monkeypatch.setattr(paths, "SCRATCH", tmp_path / "scratch")
    timings.COMMITTED.write_text('{"default": {"a": 10, "b": 20}}')
    timings.record("default", {"a": 30.4})
    timings.record("all", {"a": 99})

    assert timings.expected("default") == {"a": 30, "b": 20}


def test_every_suite_has_a_committed_time():
    committed = json.loads(timings.COMMITTED.read_text())

    assert {each.name for each in SUITES} <= committed["all"].keys()
    assert {each.name for each in SUITES} <= committed["default"].keys()


def test_every_suite_belongs_to_a_group_and_waits_for_its_environments(plan):
    planned = {job.name: job for job in plan.jobs(SUITES, lint=True)}

    assert {each.group for each in SUITES} <= set(GROUPS)
    for each in SUITES:
        for env in environments_of(each):
            assert f"environment {env}" in planned[each.name].after or f"environment {env}" not in planned


FAILING = """
import time
def test_one(): print("two\\nlines")
def test_two(): assert False, "a reason"
"""


def test_a_run_from_the_command_line_shows_what_failed_and_the_table(tmp_path):
    """One group whose suite is a small folder, in a process of its own."""
    (tmp_path / "test_x.py").write_text(FAILING)
    code = (
        "import sys, pathlib\n"
        "from demo.services import paths\n"
        "from tests.harness import suite, suites\n"
        f"paths.SCRATCH = pathlib.Path({str(tmp_path / 'scratch')!r})\n"
        f"only = suites.Suite('small', 'unit', {paths.DEFAULT_SPARK!r}, ({str(tmp_path / 'test_x.py')!r},),\n"
        f"    ('-p', 'tests.harness.selection', '--rootdir', {str(tmp_path)!r}, '-c', '/dev/null'))\n"
        "suite.chosen = lambda _: [only]\n"
        "sys.exit(suite.run(['unit'], everything=False))\n"
    )
    python = Path(sys.executable).resolve()
    done = subprocess.run([python, "-c", code], cwd=paths.ROOT, capture_output=True, text=True)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "a reason" in done.stdout
    assert re.search(r"small: ended \(\d+ s wall, \d+ s cpu, peak \d+ MB\)", done.stdout)
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert (tmp_path / "scratch" / "timings.json").exists()
