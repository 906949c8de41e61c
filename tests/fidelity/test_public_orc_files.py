"""The example files of Apache ORC, by Hive, by old and new writers and by the C++ library."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fidelity import reading, units
from tests.fidelity.foreign import rows
from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Two copies of each file, as one unit.
COPIES = 2
FILES = sorted((Path(__file__).parent / "orc_examples").glob("*.orc"))
#: Why a unit is not compacted: a code, and words of the reason.
REFUSED = {
    "encrypted-sample1": ("ENCRYPTED", "0.orc holds encrypted columns"),
    "encrypted-sample2": ("ENCRYPTED", "0.orc holds encrypted columns"),
    "corrupt-missing_length_stream_in_string_dict": ("TYPE", "0.orc lacks statistics of its stripes"),
    "orc_no_format": ("TYPE", "0.orc lacks statistics of its stripes"),
    "zero": ("EMPTY", "only empty files"),
}
#: Damaged files: words of the reason, which names the file. ORC's own tests expect that they cannot be read.
DAMAGED = {
    "TestOrcFile.testWithoutCompressionBlockSize": "it is damaged: its footer has 0 rows, and its stripes 100",
    "corrupt-stripe_footer_bad_column_encodings": "0.orc",
    "version1999": "0.orc was written by a future ORC version",
}
#: The strings of its dictionary have negative lengths. Its stripes are merged, as they are.
UNREADABLE = ("corrupt-negative_dict_entry_lengths",)


@dataclass(frozen=True)
class Played:
    """What an analysis says of each unit, and what becomes of it."""

    database: Database
    foreseen: dict[str, dict[str, Any]]
    found: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def played(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("public_orc")
    folders = {file.stem: folder / "files" / file.stem for file in FILES}
    for file in FILES:
        folders[file.stem].mkdir(parents=True)
        for copy in range(COPIES):
            shutil.copy(file, folders[file.stem] / f"{copy}.orc")
    with fresh_database(spark, folder) as database:
        table = units.partitioned(spark, database, "ORC", folders)
        jobs = Jobs(spark, folder)
        yield Played(database, units.of(jobs, "analyze", table), units.of(jobs, "compact", table))


def _expected(name: str) -> tuple[str, str | None, str]:
    if name in REFUSED:
        return "skipped", *REFUSED[name]
    if name in DAMAGED:
        return "skipped", "UNREADABLE", DAMAGED[name]
    return "compacted", None, ""


@pytest.mark.one_version
@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in FILES])
def test_every_row_is_kept(spark: SparkSession, played: Played, file: Path) -> None:
    unit, (outcome, code, words) = played.found[file.stem], _expected(file.stem)
    assert (unit["outcome"], unit["code"]) == (outcome, code), unit
    assert words in (unit["reason"] or "")
    assert code != "UNREADABLE" or "0.orc" in unit["reason"]
    kept = reading.data(units.directory(played.database, file.stem))
    if outcome != "compacted":
        assert [path.read_bytes() for path in kept] == [file.read_bytes()] * COPIES
        return
    assert len(kept) == 1
    if file.stem not in UNREADABLE:
        before = rows.of_orc(spark, [file])
        assert rows.of_orc(spark, kept) == Counter({row: count * COPIES for row, count in before.items()})


@pytest.mark.parametrize("name", REFUSED)
def test_the_analysis_foresees_what_is_refused(played: Played, name: str) -> None:
    unit = played.foreseen[name]
    assert (unit["outcome"], unit["code"]) == ("skipped", REFUSED[name][0]), unit
