"""Without its guard, each hazard makes a test fail. See `hazards` for the table."""

from __future__ import annotations

import subprocess
import sys

import pytest

from demo.services import paths
from tests.mutation import checkout, summary
from tests.mutation.checkout import Runs
from tests.mutation.guards import Sources
from tests.mutation.hazards import ALL, MUTATIONS, NO_GUARD, PARTLY, PLANNED, hazards
from tests.mutation.mutation import Mutation
from tests.mutation.runner import BASELINE
from tests.mutation.verdict import Verdict, dotted

#: Those that start Spark, or import Airflow, are for the thorough run.
_MARKS = {env: [pytest.mark.full] for env in ("spark", "provider", "pages")}


@pytest.mark.parametrize(
    "mutation", [pytest.param(each, id=each.id, marks=_MARKS.get(each.env, [])) for each in MUTATIONS]
)
def test_without_its_guard_a_hazard_fails_a_test(mutation: Mutation, runs: dict[str, Runs]) -> None:
    mutation.check(Sources(paths.ROOT))
    run = runs[mutation.env]
    for test in mutation.tests if run.baseline else ():
        complaint = run.verdict(BASELINE).complaint_as_baseline(test)
        assert complaint is None, complaint
    complaint = run.verdict(mutation.id).complaint_as_mutation()
    assert complaint is None, f"{mutation.id} ({mutation.what}): {complaint}"


def test_every_hazard_has_a_mutation_or_says_why_not() -> None:
    tried = set(hazards(MUTATIONS))
    assert sorted([*tried, *PLANNED, *NO_GUARD], key=ALL.index) == list(ALL)
    assert set(PARTLY) <= tried
    assert len({mutation.id for mutation in MUTATIONS}) == len(MUTATIONS)


def test_the_tests_on_spark_exist() -> None:
    """One that does not keeps all others of the thorough run from running. A new pin needs its case, for example."""
    tests = sorted({test for mutation in MUTATIONS if mutation.env == "spark" for test in mutation.tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--test-set=all", *tests]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _verdict(passed: str = "", failed: str = "", errors: str = "", output: str = "") -> Verdict:
    return Verdict(frozenset(passed.split()), frozenset(failed.split()), frozenset(errors.split()), output)


@pytest.mark.parametrize(
    ("verdict", "complaint"),
    [
        (_verdict(failed="t.a", output="E   AssertionError: assert 1 == 2"), None),
        (_verdict(failed="t.a", output="E   Failed: DID NOT RAISE"), None),
        (_verdict(passed="t.a"), "no test fails"),
        (_verdict(), "no test fails"),
        (_verdict(failed="t.a", errors="t"), "could not run"),
        (_verdict(failed="t.a", output="NameError: name 'x' is not defined"), "breaks the program"),
    ],
)
def test_only_a_failed_assertion_kills(verdict: Verdict, complaint: str | None) -> None:
    found = verdict.complaint_as_mutation()
    assert (found is None) if complaint is None else (complaint in str(found))


def test_a_baseline_must_have_passed() -> None:
    verdict = _verdict(passed="tests.a.test_b.C.d[1] tests.a.test_b.e2", failed="tests.a.test_b.f[1]")
    assert verdict.complaint_as_baseline("tests/a/test_b.py::C::d") is None
    assert dotted("tests/a/test_b.py::C::d[1]") == "tests.a.test_b.C.d[1]"
    assert "did not run" in str(verdict.complaint_as_baseline("tests/a/test_b.py::e"))
    assert "fails without" in str(verdict.complaint_as_baseline("tests/a/test_b.py::f"))


def test_the_settings_of_the_parent_do_not_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"COVERAGE_RCFILE", "COV_CORE_SOURCE", "PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    for name in names:
        monkeypatch.setenv(name, "x")
    assert not names & checkout.environ().keys()


def test_what_is_planned_is_never_counted() -> None:
    *_, total = summary.lines({"H12-none": True, "H2": True})
    assert total.startswith("mutation: 1 hazards, 2 mutations, all killed; planned: H12;")
    *_, total = summary.lines({"H2": False})
    assert "not killed: H2" in total
