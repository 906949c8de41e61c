from __future__ import annotations
from dataclasses import replace
import pytest
from spark_jobs.core.formats import leaf_statistics
from spark_jobs.core.formats.parquet_statistics import file_statistics
from spark_jobs.core.model import TableName
from spark_jobs.protocol.file_system import FileSystemError
from tests.crash import writers
from tests.crash.checked import check, findings
from tests.crash.flat_table import LIVE, compact
from tests.crash.model_fs import ModelFileSystem
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.test_check_sound import BOTH

def damage(r): return [(f["code"], f["path"], f["message"]) for f in findings(r) if f["severity"] == "damage"]

def test_partition_that_was_tiered_to_s3(monkeypatch):
    """The cluster of the jobs has no S3 connector or no credentials; compaction refuses just this unit (OBJECT_STORE)."""
    sim = build()
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    sim.metastore.put(name, replace(known, partitions={**known.partitions, (("k", "cold"),): "s3a://bucket/events/k=cold"}))
    for op in ("list", "identity", "status"):
        original = getattr(ModelFileSystem, op)
        def call(self, path, original=original):
            if path.startswith("s3a:"):
                raise FileSystemError('No FileSystem for scheme "s3a"')
            return original(self, path)
        monkeypatch.setattr(ModelFileSystem, op, call)
    r = compact(sim.client(), EVENTS)
    print([(u["unit"], u["outcome"], u["code"], u["reason"]) for u in r["tables"][0]["units"]], r["exit_code"], r["tables"][0]["reason"], r["tables"][0]["code"])
    assert damage(check(sim, EVENTS)) == []

def chunk(low, high, n=5):
    return {"columns": [{"path": "[c]", "valueCount": n, "statistics": f"min: {low}, max: {high}, num_nulls: 0"}]}

@pytest.mark.parametrize("real,cut", [
    ("a\x7fxyz", "b\x7f"),              # parquet-java: 0x7F cannot be incremented, the character before it is
    ("a\uffffxyz", "b\uffff"),
])
def test_shortened_maximum_whose_last_character_cannot_be_incremented(real, cut):
    leaves = {"c": "binary (STRING)"}
    mr = "parquet-mr version 1.13.1 (build x)"
    before = leaf_statistics.of_files([file_statistics(leaves, [chunk("a", cut)], mr)])
    after = leaf_statistics.of_files([file_statistics(leaves, [chunk("a", real)], mr)])
    leaf_statistics.check_statistics(before, after)

def test_directory_that_was_emptied_by_truncate_after_cleanup():
    """TRUNCATE of an external table (Hive 4, external.table.purge) keeps the directory where it is in a snapshot or zone"""
    from tests.crash.flat_table import clean_up
    sim = build(); assert compact(sim.client())["exit_code"] == 0; clean_up(sim)
    for name, _ in sim.tree.files(LIVE): sim.tree.remove(f"{LIVE}/{name}")
    assert damage(check(sim)) == []

@pytest.mark.parametrize("cleaned", [False, True])
def test_times_of_files_were_set(cleaned):
    """hdfs dfs -touch, distcp -update -pt of a mirror: content and file ids are the same"""
    from tests.crash.flat_table import clean_up
    sim = build(); assert compact(sim.client())["exit_code"] == 0
    if cleaned: clean_up(sim)
    for name, inode in sim.tree.files(LIVE):
        object.__setattr__(inode, "mtime", inode.mtime + 1000)
    assert damage(check(sim)) == []

def test_staging_of_an_insert_overwrite_explains_a_missing_directory():
    """Spark/Hive has deleted the directory and will rename its staging into place"""
    sim = build(); assert compact(sim.client(), BOTH)["exit_code"] == 0
    place = writers.location_of(sim, EVENTS, "a")
    sim.tree.remove(place, recursive=True)
    root = place.rsplit("/", 1)[0]
    sim.tree.write(f"{root}/.spark-staging-1/k=a/part-0", b"x", parents=True)
    assert damage(check(sim, EVENTS)) == []
