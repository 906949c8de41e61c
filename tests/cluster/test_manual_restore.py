"""The commands of docs/safety/manual-restore.md, run as they are written there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster.superuser import Superuser
from tests.cluster.test_metastore import files
from tests.spark.toolbox import Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "safety" / "manual-restore.md"
_BLOCK = re.compile(r"^```(sh|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class Terminal:
    """Runs the lines of the page. The values of its variables are those of the test, not those of the page."""

    def __init__(self, spark: SparkSession, values: Mapping[str, str]) -> None:
        self._spark = spark
        self._values = values
        self.assigned: set[str] = set()
        self.results: list[list[object]] = []
        #: The verbs of our own command, which are for the time when the program works again.
        self.later: list[str] = []

    def run_page(self) -> None:
        for kind, text in _BLOCK.findall(PAGE.read_text("utf-8")):
            for line in filter(None, (line.strip() for line in text.splitlines())):
                self._sql(line) if kind == "sql" else self._shell(line)

    def _sql(self, line: str) -> None:
        found = self._spark.sql(self._filled(line).rstrip(";")).collect()
        self.results += [list(row) for row in found]

    def _shell(self, line: str) -> None:
        if line.startswith("lakekeeper "):
            self.later.append(line.split()[1])
            return
        name, equals, _ = line.partition("=")
        if equals and name.isidentifier():
            self.assigned.add(name)
            return
        codes = []
        for command in line.split(" || "):
            codes.append(self._hdfs(shlex.split(self._filled(command))))
            if codes[-1] == 0:
                break
        assert codes[-1] == 0, line

    def _hdfs(self, words: list[str]) -> int:
        assert words[:2] == ["hdfs", "dfs"], words
        jvm = self._spark._jvm
        conf = self._spark._jsc.hadoopConfiguration()
        arguments = self._spark.sparkContext._gateway.new_array(jvm.java.lang.String, len(words) - 2)
        for position, word in enumerate(words[2:]):
            arguments[position] = word
        code: int = jvm.org.apache.hadoop.util.ToolRunner.run(
            jvm.org.apache.hadoop.fs.FsShell(conf), arguments
        )
        return code

    def _filled(self, line: str) -> str:
        return _VARIABLE.sub(lambda match: self._values[match[1]], line)


def test_the_page_restores_a_partition(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str, pair: str
) -> None:
    name, live, home = f"default.{pair}", f"{folder}/pair/p=a", f"{folder}/pair/.lakekeeper"
    originals, content = files(superuser, live), rows(spark, pair)
    report = only(jobs("compact", "--table", name, "--run-id", "r1"))
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"] * 2
    many(spark, live, "SELECT id + 1000 AS id FROM range(5)", 1)
    content = rows(spark, pair)
    (old,) = [path for path in superuser.tree(home) if "/__originals_" in path and path.endswith("/p=a")]
    swap = _journaled(superuser, old.split("/__originals_")[0], "p=a")
    written = {file["name"] for file in swap["compacted"]}
    (added,) = {path.rsplit("/", 1)[1] for path in files(superuser, live) if path != live} - written
    terminal = Terminal(
        spark,
        {
            "HOME_DIR": home,
            "LIVE": live,
            "RUN_DIR": old.split("/__originals_")[0],
            "OLD": old,
            "ASIDE": f"{home}/by-hand",
            "ADDED": added,
            "TABLE": name,
            "PARTITION": "p = 'a'",
            "BACKUP": report["backup_table"],
        },
    )
    terminal.run_page()
    assert terminal.assigned == {"HOME_DIR", "LIVE", "RUN_DIR", "OLD", "ASIDE", "ADDED"}
    assert terminal.results == [[swap["rows"] + 5]]
    assert terminal.later == ["forget"]
    restored = files(superuser, live)
    assert {path: restored[path] for path in originals} == originals
    assert rows(spark, pair) == content
    _the_jobs_go_on(jobs, name)
    assert rows(spark, pair) == content


def _journaled(superuser: Superuser, run: str, key: str) -> Any:
    """What the journal says of a partition, read as a person reads it."""
    records = [path for path in superuser.tree(run) if "/journal/" in path]
    bodies = [json.loads(superuser.read(path)) for path in records]
    swaps = [swap for body in bodies if body["kind"] == "PREPARED" for swap in body["swaps"]]
    return next(swap for swap in swaps if swap["live"].endswith(f"/{key}"))


def _the_jobs_go_on(jobs: Jobs, name: str) -> None:
    """A check has notices only, and a compaction works. A cleanup says what to do about the unit that was restored by
    hand, and cleans the other one up."""
    checked = jobs("check", "--table", name, "--read-data")
    assert _codes(checked) == ["BACKUP_TABLE_MISSING", "ORIGINALS_RESTORED"]
    assert (checked["outcome"], checked["exit_code"]) == ("done", 0)
    assert jobs("compact", "--table", name, "--run-id", "r2")["exit_code"] == 0
    assert _codes(jobs("check", "--table", name)) == ["BACKUP_TABLE_MISSING", "ORIGINALS_RESTORED"]
    cleanup = ("cleanup", "--table", name, "--older-than", "0s", "--skip-trash")
    report = jobs(*cleanup)
    assert (sorted(outcomes(report)), report["exit_code"]) == (["cleaned", "cleaned", "quarantined"], 3)
    assert "lakekeeper forget" in str(only(report)["units"])
    checked = jobs("check", "--table", name)
    assert (_codes(checked), checked["exit_code"]) == (["ORIGINALS_RESTORED"], 0)
    assert outcomes(jobs("forget", "--table", name, "--run-id", "r1", "--yes")) == ["forgotten"]
    assert jobs(*cleanup)["exit_code"] == 0
    assert jobs("compact", "--table", name, "--run-id", "r3")["exit_code"] == 0
    # The cleanup had registered the backup table again, and the metastore makes a directory that it misses.
    checked = jobs("check", "--table", name, "--read-data")
    assert set(_codes(checked)) <= {"ORIGINALS_FORGOTTEN"}
    assert checked["exit_code"] == 0


def _codes(report: dict[str, Any]) -> list[str]:
    return sorted(finding["code"] for finding in only(report)["findings"])
