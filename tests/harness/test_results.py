"""`make test-all` goes on where it stopped, on the same commit and nowhere else."""

from __future__ import annotations

import subprocess

import pytest

from demo.services import paths
from tests.harness import results
from tests.harness.outcome import Outcome
from tests.harness.resources import Usage
from tests.harness.results import CannotResume, Results


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git checkout with one commit."""
    root = tmp_path / "checkout"
    root.mkdir()
    monkeypatch.setattr(paths, "ROOT", root)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    (root / "file").write_text("one")
    for command in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "one"]):
        git(root, *command)
    return root


def git(root, *command):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *who, *command], cwd=root, check=True)


def change(root, text):
    """A commit of another content."""
    (root / "file").write_text(text)
    git(root, "commit", "-qam", text)


@pytest.fixture
def stopped(checkout, tmp_path):
    """What a run left that was stopped after one suite had passed and one had failed."""
    kept = tmp_path / "out" / "results.json"
    begun = Results(kept)
    begun.begin()
    begun.add(Outcome("a", passed=3, usage=Usage(10.0, 12.0, 5)))
    begun.add(Outcome("b", passed=3, failed=1))
    begun.add(Outcome("c", missed=True))
    return kept


def test_what_passed_is_not_run_again(stopped):
    assert Results(stopped).resume() == {"a": Usage(10.0, 12.0, 5)}


def test_resumed_twice_it_knows_both_parts(stopped):
    again = Results(stopped)
    again.resume()
    again.add(Outcome("b", passed=4))

    assert Results(stopped).resume().keys() == {"a", "b"}


def test_a_changed_checkout_cannot_be_resumed(stopped, checkout):
    (checkout / "file").write_text("two")

    with pytest.raises(CannotResume, match="the checkout has changes"):
        Results(stopped).resume()


def test_another_commit_cannot_be_resumed(stopped, checkout):
    change(checkout, "two")

    with pytest.raises(CannotResume, match=f"and this is {results.commit()}"):
        Results(stopped).resume()


def test_what_passed_after_the_checkout_had_changed_is_run_again(stopped, checkout):
    """Somebody commits while the suites run: the later ones have tested neither commit."""
    running = Results(stopped)
    running.resume()
    before = results.commit()
    change(checkout, "two")
    running.add(Outcome("d", passed=1))
    git(checkout, "checkout", "-q", before)

    assert Results(stopped).resume().keys() == {"a"}


def test_a_run_that_was_begun_on_changes_cannot_be_resumed(checkout, tmp_path):
    (checkout / "file").write_text("two")
    begun = Results(tmp_path / "out" / "results.json")
    begun.begin()
    change(checkout, "three")
    begun.add(Outcome("a", passed=1))

    with pytest.raises(CannotResume, match="start one anew"):
        Results(tmp_path / "out" / "results.json").resume()


def test_where_nothing_was_begun_there_is_nothing_to_resume(tmp_path):
    with pytest.raises(CannotResume, match="start one without RESUME=1"):
        Results(tmp_path / "none.json").resume()


def test_begun_anew_nothing_has_passed(stopped):
    Results(stopped).begin()

    assert Results(stopped).resume() == {}
