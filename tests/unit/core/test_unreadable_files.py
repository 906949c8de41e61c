"""The file that could not be read is named only if it fails by itself, and for its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from spark_jobs.adapters.spark.stripe_writer import StripeWriter
from spark_jobs.adapters.spark.unreadable_files import unreadable
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from tests.unit.core.java_fakes import JavaError, RaisedError

FILES = [f"hdfs://nn/t/{number}.orc" for number in range(7)]
_ORC, _HDFS = "org.apache.orc.impl.ReaderImpl", "org.apache.hadoop.hdfs.DFSOutputStream"
DAMAGED = RaisedError(JavaError("java.lang.IndexOutOfBoundsException", "7", [_ORC]))
LOST = RaisedError(JavaError("org.apache.spark.SparkException", "Job 7 cancelled", ["org.apache.spark.X"]))


class Reading:
    """Reads files of which one is damaged.

    Args:
        until: after so many reads the cluster is away.
    """

    def __init__(self, bad: str, until: int = 100) -> None:
        self._bad, self._left = bad, until

    def __call__(self, files: Sequence[str]) -> None:
        self._left -= 1
        if self._left < 0:
            raise LOST
        if self._bad in files:
            raise DAMAGED


@pytest.mark.parametrize("bad", FILES)
def test_it_is_found(bad: str) -> None:
    assert unreadable(DAMAGED, FILES, Reading(bad)) == bad


@pytest.mark.parametrize("until", range(4))
@pytest.mark.parametrize("bad", FILES)
def test_no_file_is_named_if_the_cluster_fails_meanwhile(bad: str, until: int) -> None:
    assert unreadable(DAMAGED, FILES, Reading(bad, until)) in (None, bad)


def test_no_file_is_named_if_all_of_them_can_be_read() -> None:
    assert unreadable(DAMAGED, FILES, lambda _: None) is None
    assert unreadable(_saying(FILES[3].removeprefix("hdfs://nn")), FILES, lambda _: None) is None


def _saying(file: str) -> RaisedError:
    return RaisedError(JavaError("java.io.IOException", f"cannot read {file}", [_ORC]))


@pytest.mark.parametrize("letter", ["#", "?", "%41"])
def test_odd_letters_of_names_and_places_lead_to_no_other_file(letter: str) -> None:
    files = [f"hdfs://nn/t{letter}/p{letter}{number}" for number in range(5)]
    error = _saying(files[3].removeprefix("hdfs://nn"))
    assert unreadable(error, files, Reading(files[3])) == files[3]
    assert unreadable(error, files, None) == files[3]


def test_a_name_that_another_one_begins_with_is_not_taken_for_it() -> None:
    """The message has the other name with its blank encoded."""
    files = ["hdfs://nn/t/events", "hdfs://nn/t/events 2"]
    error = _saying("/t/events%202")
    assert unreadable(error, files, Reading(files[1])) == files[1]
    assert unreadable(error, files, None) is None


def test_no_file_is_named_for_an_error_of_the_cluster() -> None:
    assert unreadable(LOST, FILES, Reading(FILES[3])) is None


def _appending(error: Exception, monkeypatch: pytest.MonkeyPatch) -> StripeWriter:
    def append(*_: Any) -> None:
        raise error

    monkeypatch.setattr(StripeWriter, "_append", append)
    return object.__new__(StripeWriter)


def test_stripes_that_orc_cannot_append_are_a_matter_of_their_type(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refusal) as refused:
        _appending(DAMAGED, monkeypatch).append(FILES[0])
    assert refused.value.code == "TYPE"


def test_an_error_of_the_client_while_stripes_are_appended_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RaisedError(JavaError("java.lang.NullPointerException", None, [_HDFS, _ORC]))
    with pytest.raises(LakekeeperError) as failed:
        _appending(error, monkeypatch).append(FILES[0])
    assert not isinstance(failed.value, Refusal)
