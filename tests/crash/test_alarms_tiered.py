"""A partition that was moved to an object store (tiering); all others are on HDFS."""
from __future__ import annotations
from dataclasses import replace
import pytest
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.model import TableName
from spark_jobs.protocol.file_system import FileSystemError, Status
from tests.crash.checked import check, findings
from tests.crash.flat_table import compact
from tests.crash.model_fs import ModelFileSystem
from tests.crash.scenario import EVENTS, build, run

COLD = "s3a://bucket/events/k=cold"

@pytest.fixture(params=["connector works", "no connector"])
def sim(request, monkeypatch):
    sim = build()
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    sim.metastore.put(name, replace(known, partitions={**known.partitions, (("k", "cold"),): COLD}))
    works = request.param == "connector works"
    for op in ("list", "identity", "status"):
        original = getattr(ModelFileSystem, op)
        def call(self, path, original=original, op=op):
            if not path.startswith("s3a:"):
                return original(self, path)
            if not works:
                raise FileSystemError(f'cannot read {path}: No FileSystem for scheme "s3a"')
            if op == "identity" and path == COLD:  # as adapters/hadoop/file_system.py:97
                raise LakekeeperError(f"{path}: this file system gives directories no identity")
            if op == "list":
                raise FileNotFoundError(path)
            return None
        monkeypatch.setattr(ModelFileSystem, op, call)
    return sim

def test_check(sim):
    report = run(sim.client(), "check", "--table", EVENTS)
    (table,) = report["tables"]
    assert (report["exit_code"], table["outcome"], table["reason"]) == (0, "nothing", None)

@pytest.mark.parametrize("verb", ["compact", "analyze", "history", "cleanup"])
def test_jobs(sim, verb):
    report = run(sim.client(), verb, "--table", EVENTS)
    (table,) = report["tables"]
    print([(u["unit"], u["outcome"], u["code"]) for u in table["units"]])
    assert (report["exit_code"], table["reason"] if report["exit_code"] else None) == (0, None)


def test_cleanup_after_a_partition_was_dropped(monkeypatch):
    """Cleanup._by_identity asks for the identity of every partition, that on S3 too."""
    from tests.crash import writers
    from tests.crash.flat_table import clean_up
    sim = build()
    assert compact(sim.client(), EVENTS)["exit_code"] == 0
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    sim.metastore.put(name, replace(known, partitions={**known.partitions, (("k", "cold"),): COLD}))
    writers.drop_partition(sim, EVENTS, "b", delete_data=True)
    for op in ("list", "identity", "status"):
        original = getattr(ModelFileSystem, op)
        def call(self, path, original=original, op=op):
            if not path.startswith("s3a:"):
                return original(self, path)
            if op == "identity" and path == COLD:
                raise LakekeeperError(f"{path}: this file system gives directories no identity, so a swap cannot be checked; only hdfs: and file: can be compacted")
            if op == "list":
                raise FileNotFoundError(path)
            return None
        monkeypatch.setattr(ModelFileSystem, op, call)
    report = clean_up(sim, EVENTS); print("REPORT", report["exit_code"], [(u["unit"], u["outcome"], u["reason"]) for u in report["tables"][0]["units"]])
    (table,) = report["tables"]
    assert (report["exit_code"], [(u["unit"], u["outcome"], u["reason"]) for u in table["units"] if u["outcome"] != "cleaned"]) == (0, [])
