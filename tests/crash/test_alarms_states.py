"""Sound states (one by one) in which check must not report damage."""
from __future__ import annotations
from dataclasses import replace
import pytest
from spark_jobs.core.eligibility import Storage
from spark_jobs.core.model import TableName
from tests.crash import writers
from tests.crash.checked import check, findings
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, append, clean_up, compact, roll_back
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare
from tests.crash.test_check_sound import _compacted, BOTH

def damage(report):
    return [(f["code"], f["path"], f["message"]) for f in findings(report) if f["severity"] == "damage"]

def place(value="a"): return f"{WAREHOUSE}/events/k={value}"

# 1. ALTER TABLE SET FILEFORMAT: older partitions keep their format
def test_table_got_another_format_for_new_partitions(monkeypatch):
    sim = build(); _compacted(sim)
    name = TableName.parse(EVENTS)
    known = sim.metastore.get(name)
    orc = Storage(known.facts.storage.location, "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcSerde")
    sim.metastore.put(name, replace(known, facts=replace(known.facts, storage=orc)))
    asked = []
    from tests.crash.model_spark import ModelFooters
    original = ModelFooters.read
    def read(self, files, file_format):
        asked.append(file_format)
        if file_format != "parquet":  # the real reader: "Malformed ORC file ... Invalid postscript"
            raise OSError(f"Malformed ORC file {files[0]}. Invalid postscript.")
        return original(self, files, file_format)
    monkeypatch.setattr(ModelFooters, "read", read)
    assert damage(check(sim, EVENTS)) == []

# 2. a writer recreates the directory between two calls of the check
@pytest.mark.parametrize("table,where", [(FLAT, LIVE), (EVENTS, place())])
def test_overwrite_while_check_looks(table, where):
    sim0 = build(); assert compact(sim0.client(), BOTH)["exit_code"] == 0
    c = sim0.copy().client(); run(c, "check", "--table", table); n = c.points
    wrong = []
    for k in range(1, n + 1):
        sim = sim0.copy()
        c = sim.client(Fault.hook(k, lambda: writers.overwrite_by_recreation(sim, where, sim.ledger.fresh(3))))
        r = run(c, "check", "--table", table)
        if damage(r) or r["exit_code"]: wrong.append((str(c.trace[k - 1]), damage(r), r["tables"][0]["reason"]))
    assert not wrong, wrong

def test_overwrite_takes_two_calls_while_check_looks():
    """Spark's INSERT OVERWRITE: the directory is away for a moment, its staging is there"""
    sim0 = build(); assert compact(sim0.client(), BOTH)["exit_code"] == 0
    c = sim0.copy().client(); run(c, "check", "--table", FLAT); n = c.points
    wrong = []
    for k in range(1, n):
        sim = sim0.copy()
        def gone():
            sim.ledger.overwritten.update(sim.ledger.committed); sim.tree.remove(LIVE, recursive=True)
        def back(): writers.append(sim, LIVE, sim.ledger.fresh(3))
        c = sim.client(Fault.hook(k, gone), Fault.hook(k + 1, back))
        r = run(c, "check", "--table", FLAT)
        if damage(r) or r["exit_code"]: wrong.append((str(c.trace[k - 1]), damage(r), r["tables"][0]["reason"]))
    assert not wrong, wrong

@pytest.mark.parametrize("delete", [False, True])
def test_partition_dropped_while_check_looks(delete):
    sim0 = build(); assert compact(sim0.client(), BOTH)["exit_code"] == 0
    c = sim0.copy().client(); run(c, "check", "--table", EVENTS); n = c.points
    wrong = []
    for k in range(1, n + 1):
        sim = sim0.copy()
        c = sim.client(Fault.hook(k, lambda: writers.drop_partition(sim, EVENTS, "a", delete_data=delete)))
        r = run(c, "check", "--table", EVENTS)
        if damage(r) or r["exit_code"]: wrong.append((str(c.trace[k - 1]), damage(r), r["tables"][0]["reason"]))
    assert not wrong, wrong

# 3. a table that is dropped while the check of a database looks
def test_table_dropped_while_a_check_of_the_database_looks():
    sim0 = build(); assert compact(sim0.client(), BOTH)["exit_code"] == 0
    c = sim0.copy().client(); run(c, "check", "--database", "sales"); n = c.points
    wrong = []
    for k in range(1, n + 1):
        sim = sim0.copy()
        def act():
            sim.metastore.drop(TableName.parse(FLAT)); sim.tree.remove(LIVE, recursive=True)
        c = sim.client(Fault.hook(k, act))
        r = run(c, "check", "--database", "sales")
        if damage_all(r) or r["exit_code"]: wrong.append((str(c.trace[k - 1]), r["exit_code"], [(t["table"], t["outcome"], t["reason"]) for t in r["tables"]]))
    assert not wrong, wrong[:3]

def damage_all(r): return [f for t in r["tables"] for f in (t.get("findings") or []) if f["severity"] == "damage"]

# 4. INSERT OVERWRITE in place with an empty result
@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("zero_file", [False, True])
def test_overwritten_in_place_by_nothing(cleaned, zero_file):
    sim = build(); declare(sim, FLAT, "lakekeeper.writers", "overwrite"); _compacted(sim)
    if cleaned: clean_up(sim)
    sim.tree.tick(); sim.ledger.overwritten.update(sim.ledger.committed)
    for name, _ in sim.tree.files(LIVE): sim.tree.remove(f"{LIVE}/{name}")
    if zero_file: sim.tree.write(f"{LIVE}/000000_0", b"")
    assert damage(check(sim)) == []

# 5. one of several compacted files was deleted by a retention job, long after the cleanup
def test_part_of_the_files_deleted_after_cleanup():
    sim = build(); declare(sim, FLAT, "lakekeeper.writers", "overwrite")
    assert compact(sim.client(), FLAT, "r1", "--target-file-size", "60")["exit_code"] == 0
    clean_up(sim)
    names = [n for n, _ in sim.tree.files(LIVE)]
    if len(names) < 2: pytest.skip(str(names))
    sim.tree.tick(); sim.tree.remove(f"{LIVE}/{names[0]}")
    append(sim)()
    assert damage(check(sim)) == []

# 6. table root moved, SET LOCATION
def test_table_moved():
    sim = build(); _compacted(sim)
    new = f"{AUTHORITY}/archive"
    sim.tree.make_dirs(new)
    sim.tree.rename(f"{WAREHOUSE}/events", f"{new}/events")
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    parts = {s: l.replace(f"{WAREHOUSE}/events", f"{new}/events") for s, l in known.partitions.items()}
    sim.metastore.put(name, replace(known, facts=replace(known.facts, storage=replace(known.facts.storage, location=f"{new}/events")), partitions=parts))
    assert damage(check(sim, EVENTS)) == []

def test_partition_moved_to_archive():
    sim = build(); _compacted(sim)
    new = f"{AUTHORITY}/archive/events/k=a"
    sim.tree.make_dirs(f"{AUTHORITY}/archive/events")
    sim.tree.rename(place(), new)
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    parts = {s: (new if l == place() else l) for s, l in known.partitions.items()}
    sim.metastore.put(name, replace(known, partitions=parts))
    assert damage(check(sim, EVENTS)) == []

def test_partition_renamed():
    sim = build(); _compacted(sim)
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    parts = {((("k", "z"),) if dict(s)["k"] == "a" else s): l for s, l in known.partitions.items()}
    sim.metastore.put(name, replace(known, partitions=parts))
    assert damage(check(sim, EVENTS)) == []

def test_partition_key_renamed():
    sim = build(); _compacted(sim)
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    parts = {tuple(("kk", v) for _, v in s): l for s, l in known.partitions.items()}
    sim.metastore.put(name, replace(known, facts=replace(known.facts, partition_keys=("kk",)), partitions=parts))
    assert damage(check(sim, EVENTS)) == []

# two partitions swap their locations
def test_partitions_swap_locations():
    sim = build(); _compacted(sim)
    name = TableName.parse(EVENTS); known = sim.metastore.get(name)
    other = {place("a"): place("b"), place("b"): place("a")}
    sim.metastore.put(name, replace(known, partitions={s: other.get(l, l) for s, l in known.partitions.items()}))
    assert damage(check(sim, EVENTS)) == []

def test_odd_names():
    sim = build()
    for v in ("ä ö%", "it's", "a=b", "a:b", "x#y?z", "日本", "a\\b", 'q"q'):
        p = writers.add_partition(sim, EVENTS, v, location=f"{WAREHOUSE}/events/k={v.replace('/', '%2F')}")
        for _ in range(4): writers.append(sim, p, sim.ledger.fresh(3))
    assert compact(sim.client(), EVENTS)["exit_code"] == 0
    assert check(sim, EVENTS)["tables"][0]["findings"] == []
    assert check(sim, EVENTS, "--read-data")["tables"][0]["findings"] == []

def test_two_tables_on_one_root():
    sim = build()
    writers.create_table(sim, "sales.twin", LIVE)
    known = sim.metastore.get(TableName.parse(EVENTS))
    writers.create_table(sim, "sales.twin2", f"{WAREHOUSE}/events", keys=("k",))
    name = TableName.parse("sales.twin2"); t2 = sim.metastore.get(name)
    sim.metastore.put(name, replace(t2, partitions=dict(known.partitions)))
    writers.create_table(sim, "sales.one", place("a"))
    r = compact(sim.client(), BOTH)
    assert r["exit_code"] == 0
    for t in (FLAT, EVENTS, "sales.twin", "sales.twin2", "sales.one"):
        r = check(sim, t); assert damage(r) == [], t; assert not r["exit_code"], r
    append(sim)(); append(sim)(); append(sim, place())(); append(sim, place())()
    r = compact(sim.client(), "sales.twin,sales.twin2,sales.one", "r5")
    for t in (FLAT, EVENTS, "sales.twin", "sales.twin2", "sales.one"):
        r = check(sim, t); assert damage(r) == [], t; assert not r["exit_code"], r

def test_backup_prefix_changed_and_renamed_table_recompacted():
    sim = build(); _compacted(sim)
    declare(sim, EVENTS, "lakekeeper.backup_prefix", "__other")
    append(sim, place())(); append(sim, place())(); append(sim, place())()
    assert compact(sim.client(), EVENTS, "r2")["exit_code"] == 0
    assert damage(check(sim, BOTH)) == []

def test_hidden_files_of_others_everywhere():
    sim = build(); _compacted(sim)
    for d in (LIVE, place(), f"{WAREHOUSE}/events", f"{WAREHOUSE}", f"{WAREHOUSE}/events/.lakekeeper", f"{WAREHOUSE}/.lakekeeper-flat"):
        for n in (".DS_Store", "_SUCCESS", "_impala_insert_staging_x", ".trash-info", "_metadata_cache"):
            sim.tree.write(f"{d}/{n}", b"x" if n != "_SUCCESS" else b"")
        sim.tree.make_dirs(f"{d}/.impala_insert_staging"); sim.tree.make_dirs(f"{d}/.snapshot")
    assert damage(check(sim, BOTH)) == []

def test_hidden_directory_in_originals_of_a_tool():
    """A scanner (e.g. Navigator/Atlas, a backup tool) leaves hidden entries in run folders"""
    sim = build(); _compacted(sim)
    from tests.crash.flat_table import originals
    sim.tree.write(f"{originals(sim)}/.DS_Store", b"x")
    assert damage(check(sim, FLAT)) == []

def test_rolled_back_then_compacted_again_and_folded():
    sim = build(); _compacted(sim)
    roll_back(sim, FLAT); roll_back(sim, EVENTS)
    assert compact(sim.client(), BOTH, "r1")["exit_code"] == 0
    assert damage(check(sim, BOTH)) == []
    clean_up(sim); clean_up(sim, EVENTS)
    assert damage(check(sim, BOTH)) == []
    sim.advance(3 * 86400)
    for _ in range(6): append(sim)(); append(sim, place())()
    assert compact(sim.client(), BOTH, "r1")["exit_code"] == 0
    assert damage(check(sim, BOTH)) == []

def test_forgotten_run():
    sim = build(); _compacted(sim)
    run(sim.client(), "forget", "--table", FLAT, "--run-id", "r1", "--yes")
    run(sim.client(), "forget", "--table", EVENTS, "--run-id", "r1", "--yes")
    assert damage(check(sim, BOTH)) == []

def test_dropped_and_recreated_table_same_root():
    sim = build(); _compacted(sim)
    sim.metastore.drop(TableName.parse(FLAT)); writers.create_table(sim, FLAT, LIVE)
    assert damage(check(sim, FLAT)) == []

def test_discover_partitions_on_home_no():
    sim = build(); _compacted(sim); writers.msck(sim, EVENTS, sync=True)
    assert damage(check(sim, EVENTS)) == []

def test_database_of_backups_dropped():
    sim = build(); _compacted(sim)
    for n in list(sim.metastore.databases["sales"]):
        if n.startswith("__"): sim.metastore.drop(TableName("sales", n))
    assert damage(check(sim, BOTH)) == []

def test_backup_table_renamed_by_user():
    sim = build(); _compacted(sim)
    for n in [n for n in list(sim.metastore.databases["sales"]) if n.startswith("__")]:
        t = sim.metastore.get(TableName("sales", n)); sim.metastore.drop(TableName("sales", n))
        sim.metastore.put(TableName("sales", "keep" + n), replace(t, facts=replace(t.facts, name="sales.keep" + n)))
    assert damage(check(sim, BOTH)) == []

def test_compacted_copy_of_the_backup_like_ctas_likes():
    """CREATE TABLE __bkp_flat_mine LIKE __bkp_flat_...: properties are copied with LIKE, own location"""
    sim = build(); _compacted(sim)
    for n in [n for n in list(sim.metastore.databases["sales"]) if n.startswith("__")]:
        t = sim.metastore.get(TableName("sales", n))
        loc = f"{WAREHOUSE}/{n}_mine"
        facts = replace(t.facts, name=f"sales.{n}_mine", storage=replace(t.facts.storage, location=loc))
        sim.tree.make_dirs(loc)
        sim.metastore.put(TableName("sales", n + "_mine"), replace(t, facts=facts, partitions={}))
    assert damage(check(sim, BOTH)) == []
