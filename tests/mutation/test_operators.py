"""What an operator makes of a marked statement, and what it says where it does not find one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.guards import GuardNotFound
from tests.mutation.mutation import Mutation, applied
from tests.mutation.operators import Condition, Item, Operator, Remove, Replace, Rewrite, Value, Without

SOURCE = """\
LIMITS = {"a": "1", "b": "2"}  # guard: limits
TEXT = "# guard: none"


class Door:
    def enter(self, who, key=None):
        # guard: key
        # What stands between a mark and its statement does not matter.
        if key is None or not self.fits(key) or who == (
            "nobody"
        ):
            raise ValueError(who)
        self.note(who)  # guard: note
        return {
            "name": who.name,  # guard: answer
        }
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "spark_jobs").mkdir()
    file = tmp_path / "spark_jobs" / "door.py"
    file.write_text(SOURCE)
    return file


def _mutated(module: Path, *operators: Operator) -> str:
    with applied(module.parents[1], Mutation("H1-x", "", operators, ())):
        return module.read_text()


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        (Remove("note"), "self.note(who)", "pass"),
        (Condition("key", False), "if key is None or not self.fits(key) or who == 'nobody':", "if False:"),
        (Value("answer", "[]"), "return {'name': who.name}", "return []"),
        (Rewrite("key", "A or B or C", "B or C"), "if key is None or not", "if not"),
        (Rewrite("key", "A == 'nobody'", "A.startswith('no')"), "who == 'nobody'", "who.startswith('no')"),
        (Rewrite("answer", "W.A", "W.enter.A"), "who.name", "who.enter.name"),
        (Rewrite("note", "S.N(W)", "W = S"), "self.note(who)", "who = self"),
        (Replace("note", "raise"), "self.note(who)", "raise"),
        (Replace("note", "if who:\n    STATEMENT"), "self.note(who)", "if who:\n            self.note(who)"),
        (Item("limits", "b", "3"), "'b': '2'", "'b': '3'"),
        (Without("limits", "b"), ", 'b': '2'", ""),
    ],
)
def test_an_operator_changes_its_guard_and_nothing_else(
    module: Path, operator: Operator, before: str, after: str
) -> None:
    unchanged = _mutated(module, Rewrite("note", "S.N(W)", "S.N(W)"))
    assert unchanged.count(before) == 1
    assert _mutated(module, operator) == unchanged.replace(before, after)
    assert module.read_text() == SOURCE


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (Remove("notes"), r"no statement of spark_jobs or lakekeeper_provider is marked `# guard: notes` \(but note\)"),
        (Remove("none"), "no statement of spark_jobs or lakekeeper_provider is marked `# guard: none`"),
        (Condition("note", False), r"door.py:13, in Door.enter, marked `# guard: note`: self.note\(who\)\nLooked for"),
        (Value("note", "1"), "Looked for: an assignment or a `return` with a value"),
        (Rewrite("key", "A and B", "A"), "Looked for: `A and B`, once, and not 0 times"),
        (Rewrite("key", "A", "B"), r"once, and not \d+ times"),
        (Rewrite("note", "S.note(W)", "S.note(whom)"), "names whom, which Door.enter in spark_jobs/door.py"),
        (Rewrite("note", "S.note(W)", "S.fit(W)"), "names the attribute fit, which nothing in the product"),
        (Item("limits", "c", "3"), "Looked for: one key 'c'"),
        (Without("limits", "c"), "Looked for: an entry 'c'"),
        (Item("limits", "b", "2"), "with another value than '2'"),
    ],
)  # fmt: skip
def test_a_guard_that_is_not_found_is_an_error_and_not_a_success(
    module: Path, operator: Operator, message: str
) -> None:
    with pytest.raises(GuardNotFound, match=message) as error:
        _mutated(module, operator)
    assert str(error.value).startswith("mutation H1-x: ")
    assert str(error.value).endswith("Edit tests/mutation/hazards_*.py.")
    assert module.read_text() == SOURCE


def test_a_mark_may_be_used_once(module: Path) -> None:
    module.write_text(f"{SOURCE}X = 1  # guard: note\n")
    with pytest.raises(GuardNotFound, match=r"(?s)door.py:13, in Door.enter.*door.py:17, in the module"):
        _mutated(module, Remove("note"))


def test_a_mark_on_no_statement_is_an_error(module: Path) -> None:
    module.write_text(f"{SOURCE}# guard: late\n")
    with pytest.raises(GuardNotFound, match=r"door.py:17: `# guard: late` is on no statement"):
        _mutated(module, Remove("late"))


def test_a_mark_does_not_move_on_to_a_statement_of_another_block(module: Path) -> None:
    """The statement below it was removed, and the comment forgotten."""
    module.write_text(f"{SOURCE}def late():\n    x = 1\n    # guard: late\ny = 2\n")
    with pytest.raises(
        GuardNotFound, match=r"door.py:19: `# guard: late` stands above no statement of its block"
    ):
        _mutated(module, Remove("late"))


def test_two_operators_do_not_undo_each_other(module: Path) -> None:
    both = _mutated(module, Condition("key", False), Remove("note"))
    assert "if False:" in both
    assert "self.note" not in both
    with pytest.raises(GuardNotFound, match="no other operator of this mutation has removed"):
        _mutated(module, Remove("note"), Remove("note"))
