"""Files and directories that cannot be read on a real HDFS: what is refused, what is in use, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.superuser import Superuser, acting_as
from tests.cluster.tables import SmallFiles
from tests.spark.toolbox import Jobs, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession, superuser: Superuser, folder: str) -> SmallFiles:
    return SmallFiles(spark, superuser, f"{folder}/parts")


def _found(report: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    return {unit["unit"]["p"]: (unit["outcome"], unit["code"]) for unit in only(report)["units"]}


def test_a_file_without_its_end_is_refused_when_its_writer_is_gone(
    jobs: Jobs, superuser: Superuser, table: SmallFiles
) -> None:
    file = superuser.path(f"{table.units[0]}/part-of-loader.parquet")
    stream = superuser.another("loader").create(file, False)
    stream.write(b"PAR1, and half of the rows")
    stream.close()
    stream = superuser.another("loader").append(file)
    before = table.tree()
    assert _found(jobs("analyze", "--table", table.name))["1"] == ("flagged", None)
    report = jobs("compact", "--table", table.name)
    assert _found(report) == {"1": ("changed", "ACTIVE_WRITER"), "2": ("compacted", None)}
    stream.close()
    for verb in ("analyze", "compact"):
        report = jobs(verb, "--table", table.name)
        assert (_found(report)["1"], report["exit_code"]) == (("skipped", "UNREADABLE"), 0)
        (unit,) = [unit for unit in only(report)["units"] if unit["code"]]
        assert f"hdfs dfs -mv '{file.toString()}'" in unit["reason"]
    others = [path for path in before if "/p=1/" in path and "loader" not in path]
    assert [table.tree()[path] for path in others] == [before[path] for path in others]
    superuser.fs.delete(file, False)
    assert _found(jobs("compact", "--table", table.name))["1"] == ("compacted", None)


@pytest.mark.parametrize("part", ["directory", "file"])
def test_what_may_not_be_read_is_left_alone(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, table: SmallFiles, part: str
) -> None:
    place, warn = table.units[0] if part == "directory" else table.files()[0], {"attributes": "warn"}
    superuser.chown(place, "loader", "analysts")
    superuser.chmod(place, "700")
    with acting_as(spark, "etl"):
        for verb, other in (("analyze", "flagged"), ("compact", "compacted"), ("analyze", "healthy")):
            request = {"arguments": warn} if verb == "compact" else None
            report = jobs(verb, "--table", table.name, request=request)
            assert _found(report) == {"1": ("skipped", "NOT_READABLE"), "2": (other, None)}, report
            assert report["exit_code"] == 0
        superuser.chmod(place, "777")
        report = jobs("compact", "--table", table.name, request={"arguments": warn})
        assert _found(report)["1"] == ("compacted", None), report
