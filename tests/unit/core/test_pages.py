"""The documentation says what the code does: its generated parts are current."""

from __future__ import annotations

import pytest

from tests.contract import pages


@pytest.mark.parametrize("page", pages.PAGES)
def test_a_page_is_current(page: str) -> None:
    """`make docs` writes it."""
    assert (pages.ROOT / page).read_text() == pages.generated(page)


def test_a_bar_in_a_cell_is_no_column() -> None:
    assert pages.table(("a", "b"), [("x|y", "z")]).splitlines()[2] == r"| x\|y | z |"
