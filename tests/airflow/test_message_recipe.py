"""The callback of docs/guides/monitoring.md: who gets which message when a night was partial, or quarantined."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tests.airflow.conftest import ROOT
from tests.airflow.support import context
from tests.airflow.tasks import compact


@pytest.fixture
def sent() -> list[dict[str, str]]:
    return []


@pytest.fixture
def tell(sent) -> Any:
    """The function as it stands in the guide, with a `send` that keeps the messages."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "monitoring.md").read_text(), re.S
    )
    (code,) = (block for block in blocks if "def tell(" in block)
    names: dict[str, Any] = {"send": lambda **message: sent.append(message)}
    exec(code, names)
    return names["tell"]


def fail(tell: Any) -> None:
    """Run a compaction that fails, and call the callback as Airflow does."""
    with pytest.raises(Exception) as failed:  # noqa: PT011 - whatever Airflow would see
        compact().execute(context())
    task = SimpleNamespace(dag_id="nightly", task_id="compact", log_url="http://airflow/logs")
    tell({"exception": failed.value, "ti": task})


def units(outcome: str) -> dict[str, Any]:
    found = [
        {"unit": {"d": "1"}, "outcome": "compacted"},
        {"unit": {"d": "2"}, "outcome": outcome, "reason": "r"},
    ]
    return {"tables": {"sales.events": {"outcome": "partial", "units": found}}}


def test_a_partial_night_is_for_the_team(spark, tell, sent):
    spark.plan(compact={**units("failed"), "outcome": "partial"})
    fail(tell)
    (message,) = sent
    assert message["to"] == "data-team@example.com"
    assert "d=2" in message["text"]


def test_a_quarantined_unit_is_for_the_people_on_call(spark, tell, sent):
    spark.plan(compact={**units("quarantined"), "outcome": "unsafe"})
    fail(tell)
    (message,) = sent
    assert message["to"] == "on-call@example.com"
    assert message["subject"] == "nightly.compact: look at this now"
    assert "d=2" in message["text"]
