"""What is worth compacting, what must not be, and what was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.options import selection
from spark_jobs.core.rules.eligibility import (
    Storage,
    TableFacts,
    check_marks,
    check_place,
    check_properties,
    check_table,
    positional,
)
from spark_jobs.core.rules.health import Thresholds, assess
from spark_jobs.core.rules.overlap import overlapping
from spark_jobs.core.values.model import FileEntry, FileListing, TableName, Unit, unit_key

MB = 1024 * 1024
PARQUET = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)
AVRO = (
    "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
    "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
)


def manifest(*sizes: int) -> FileListing:
    return FileListing.of(FileEntry(f"part-{n:05d}", size, 0) for n, size in enumerate(sizes))


@pytest.mark.parametrize(
    ("sizes", "flagged", "target"),
    [
        ([600] * 500, True, 1),
        ([600], False, 1),
        ([], False, 1),
        ([128 * MB] * 4, False, 4),
        ([12 * MB] * 100, True, 10),
        # A few large files lift the average over the threshold, the median stays small.
        ([600 * MB] * 3 + [1000] * 20, True, 4),
        # As many files would come out as went in, if all were rewritten: to copy the large ones would not pay.
        ([600 * MB] * 3 + [1000] * 10, False, 4),
        ([300 * MB, 1, 1], False, 2),
        ([500_000 * MB, 1, 1], False, 2),
        # Files without a byte beside a large one.
        ([300 * MB, 0, 0, 0], True, 1),
    ],
)
def test_small_files_are_judged_by_the_smaller_of_average_and_median(
    sizes: list[int], flagged: bool, target: int
) -> None:
    health = assess(manifest(*sizes), Thresholds())
    assert (health.needs_compaction, health.target_files) == (flagged and target < len(sizes), target)


#: Files of a unit whose average and median are not small, the options, and whether its small files decide.
BESIDE = [
    # To copy 195 GB for 900 files is not what anybody expects: 4.6 files for each GB that is read.
    ([200 * MB] * 1000 + [MB] * 900, {}, False),
    ([200 * MB] * 1000 + [MB] * 900, {"min_files_per_gb": 4.5}, True),
    # 60 files in 5 GB are 12 for each GB; 29 are too few, whatever they are.
    ([50 * MB] * 100 + [MB] * 60, {}, True),
    ([50 * MB] * 100 + [MB] * 60, {"min_small_files": 61}, False),
    ([20 * MB] * 100 + [MB] * 29, {"min_files_per_gb": 0}, False),
    ([50 * MB] * 100 + [MB] * 60, {"strategy": "full"}, False),
    ([50 * MB] * 100, {"min_small_files": 1, "min_files_per_gb": 0}, False),
]


@pytest.mark.parametrize(("sizes", "options", "flagged"), BESIDE)
def test_small_files_beside_larger_ones_decide_by_what_is_read_for_them(
    sizes: list[int], options: dict[str, Any], flagged: bool
) -> None:
    assert assess(manifest(*sizes), Thresholds(**options)).needs_compaction is flagged


@pytest.mark.parametrize("per_gb", [10, 4.5])
def test_small_files_that_are_enough_by_number_are_told_whatever_they_decide(per_gb: float) -> None:
    health = assess(manifest(*[200 * MB] * 1000, *[MB] * 900), Thresholds(min_files_per_gb=per_gb))
    assert health.note == (
        "of its 900 small files beside larger ones, 4.5 would go away for each GB that is read;"
        f" min_files_per_gb is {per_gb:g}"
    )
    few = assess(manifest(*[200 * MB] * 1000, *[MB] * 29), Thresholds(min_files_per_gb=per_gb))
    assert (few.needs_compaction, few.note) == (False, None)


@pytest.mark.parametrize(
    ("sizes", "note"),
    [
        (
            [600 * MB] * 3 + [1] * 10,
            "its 10 small files beside larger ones are fewer than min_small_files (30)",
        ),
        ([90 * MB] * 4 + [12 * MB] * 4, None),
        ([50 * MB, 50 * MB], None),
        ([1], None),
    ],
)
def test_a_unit_whose_median_is_small_is_told_where_it_is_left_alone(
    sizes: list[int], note: str | None
) -> None:
    """Lakekeeper 0.0.6 would flag it, and leave more files than there are."""
    health = assess(manifest(*sizes), Thresholds())
    assert (health.needs_compaction, health.note) == (False, note)


def test_a_unit_whose_files_cannot_be_fewer_says_so() -> None:
    full = assess(manifest(*[600 * MB] * 3, *[1] * 10), Thresholds(strategy="full"))
    assert (full.needs_compaction, full.note) == (False, "its 13 files cannot be fewer: 15 would be left")
    minor = assess(manifest(*[600 * MB] * 3, *[1] * 10), Thresholds(strategy="minor"))
    assert (minor.needs_compaction, minor.target_files, minor.note) == (True, 4, None)
    large = assess(manifest(*[200 * MB] * 4), Thresholds(strategy="minor"))
    assert (large.needs_compaction, large.note) == (False, None)
    few = assess(manifest(*[MB] * 6), Thresholds(min_input_files=10))
    assert (few.needs_compaction, few.note) == (False, "it has 6 files; min_input_files is 10")
    pair = assess(manifest(100 * MB, 10 * MB), Thresholds(ratio=2))
    assert (pair.needs_compaction, pair.note) == (False, "its 2 files cannot be fewer: 2 would be left")


def test_the_rule_of_average_and_median_needs_no_number_of_small_files() -> None:
    options = {"min_small_files": 10**6, "min_files_per_gb": 10**6}
    health = assess(manifest(*[200 * MB] * 1000, *[MB] * 1100), Thresholds(**options))
    assert (health.needs_compaction, health.target_files, health.note) == (True, 1009, None)


def test_thresholds_can_be_set() -> None:
    ten_mb = manifest(*[10 * MB] * 8)
    assert not assess(ten_mb, Thresholds(block_size=64 * MB, ratio=10)).needs_compaction
    assert assess(ten_mb, Thresholds(block_size=64 * MB, ratio=2)).needs_compaction
    assert assess(ten_mb, Thresholds(ratio=10, target_file_size=512 * MB)).target_files == 1
    assert not assess(ten_mb, Thresholds(min_input_files=9)).needs_compaction


def test_hidden_files_are_no_data_but_belong_to_the_manifest() -> None:
    files = FileListing.of(
        [FileEntry("_SUCCESS", 0, 1), FileEntry(".x.crc", 8, 1), FileEntry("part-0", 10, 1)]
    )
    assert (len(files.files), [f.name for f in files.data], files.bytes) == (3, ["part-0"], 10)


def test_a_fingerprint_changes_with_every_change() -> None:
    base = manifest(1, 2)
    others = [manifest(1), manifest(1, 3), FileListing.of([*base.files, FileEntry("z", 0, 0)])]
    touched = FileListing.of([FileEntry(f.name, f.length, f.mtime + 1) for f in base.files])
    rewritten = FileListing.of([FileEntry(f.name, f.length, f.mtime, 17) for f in base.files])
    prints = {m.fingerprint for m in [base, *others, touched, rewritten]}
    assert len(prints) == 6
    assert FileListing.from_json(base.to_json()).fingerprint == base.fingerprint


def test_a_manifest_diff_tells_additions_from_losses() -> None:
    before = manifest(1, 2)
    after = FileListing.of([before.files[0], FileEntry("part-00001", 9, 5), FileEntry("new", 1, 1)])
    diff = before.diff(after)
    assert ([f.name for f in diff.added], [f.name for f in diff.lost]) == (["new"], ["part-00001"])
    assert str(diff) == "1 added (new); 1 changed or removed (part-00001)"
    assert not before.diff(before)


def facts(**more: object) -> TableFacts:
    given: dict[str, object] = {
        "name": "db.t",
        "kind": "EXTERNAL",
        "storage": Storage("hdfs://nn/db/t", *PARQUET),
        "provider": "hive",
        "properties": {},
        "columns": (("id", "bigint"),),
        "partition_keys": (),
    }
    return TableFacts(**{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"kind": "MANAGED"}, "MANAGED"),
        ({"kind": "VIEW"}, "VIEW"),
        ({"properties": {"transactional": "TRUE"}}, "TRANSACTIONAL"),
        (
            {"properties": {"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"}},
            "STORAGE_HANDLER",
        ),
        ({"unsupported": ("storage handler",)}, "STORAGE_HANDLER"),
        (
            {"properties": {"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"}},
            "ICEBERG",
        ),
        ({"properties": {"table_type": "ICEBERG"}}, "ICEBERG"),
        ({"properties": {"table_type": "PAIMON"}}, "PAIMON"),
        ({"provider": "delta"}, "DELTA"),
        ({"provider": "org.apache.hudi"}, "HUDI"),
        ({"bucketed": True}, "BUCKETED"),
        ({"unsupported": ("skewed columns",)}, "SKEWED"),
        (
            {
                "storage": Storage(
                    "hdfs://nn/t", "org.apache.hudi.hadoop.HoodieParquetInputFormat", PARQUET[1]
                )
            },
            "SERDE",
        ),
        ({"storage": Storage("s3a://bucket/t", *PARQUET)}, "OBJECT_STORE"),
        ({"storage": Storage("hdfs://nn/db/.lakekeeper-t/r.1/t", *PARQUET)}, "BACKUP"),
        ({"properties": {"lakekeeper.run_id": "r"}}, "BACKUP"),
        ({"unreadable": "column 'v' has the type uniontype<int,string>"}, "TYPE"),
        ({"storage": Storage("hdfs://nn/t", *PARQUET, {"pathGlobFilter": "a*"})}, "FILE_FILTER"),
        ({"storage": Storage("hdfs://nn/t", *PARQUET, {"modifiedafter": "2020-01-01"})}, "FILE_FILTER"),
        ({"properties": {"mapred.input.pathFilter.class": "com.example.Filter"}}, "FILE_FILTER"),
        ({"storage": Storage("hdfs://nn/t", *PARQUET, {"ignoreExtension": "False "})}, "FILE_FILTER"),
    ],
)
def test_tables_are_refused_by_code(more: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as refusal:
        check_table(facts(**more))
    assert refusal.value.code == code
    assert refusal.value.reason


def test_types_that_spark_cannot_read_do_not_matter_in_files_without_types() -> None:
    serde = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    text = Storage("hdfs://nn/db/t", "org.apache.hadoop.mapred.TextInputFormat", serde)
    sequences = Storage("hdfs://nn/db/t", "org.apache.hadoop.mapred.SequenceFileInputFormat", serde)
    why = "column 'v' has the type uniontype<int,string>"
    assert check_table(facts(storage=text, unreadable=why)) == "text"
    assert check_table(facts(storage=sequences, unreadable=why)) == "sequencefile"


def test_plain_external_tables_pass() -> None:
    assert check_table(facts()) == "parquet"
    assert check_table(facts(bucketed=True), bucketing="ignore") == "parquet"
    # The files of each unit tell whether they are buckets.
    assert check_table(facts(bucketed=True, buckets=4)) == "parquet"
    assert check_table(facts(properties={"ignoreExtension": "true"})) == "parquet"
    with pytest.raises(Refusal, match="BUCKETED"):
        check_table(facts(bucketed=True, buckets=4, provider="parquet"), bucketing="ignore")
    with pytest.raises(Refusal, match="OPTED_OUT"):
        check_table(facts(), enabled=False)
    with pytest.raises(Refusal, match="below no mount of its viewfs"):
        check_place("viewfs://cluster/db/t")


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["_delta_log"], "DELTA"),
        ([".hoodie"], "HUDI"),
        (["_spark_metadata"], "STREAMING_SINK"),
        (["data", "metadata"], "ICEBERG"),
    ],
)
def test_marks_of_table_formats(names: list[str], code: str) -> None:
    with pytest.raises(Refusal, match=code):
        check_marks(names, "hdfs://nn/t")
    check_marks(["date=2026-02-23", "_SUCCESS"], "hdfs://nn/t")


def test_positional_columns_are_noticed_wherever_they_are_set() -> None:
    key = {"parquet.column.index.access": "true"}
    assert positional(facts(properties=key))
    assert positional(facts(storage=Storage("hdfs://nn/t", *PARQUET, key)))
    assert positional(facts(cluster=key))
    assert positional(facts(properties={"orc.force.positional.evolution": " TRUE "}))
    assert not positional(facts())


@pytest.mark.parametrize(
    ("cluster", "storage"),
    [
        ({"mapreduce.input.pathFilter.class": "com.example.Filter"}, PARQUET),
        ({"avro.mapred.ignore.inputs.without.extension": "true"}, AVRO),
    ],
)
def test_a_filter_of_the_cluster_is_one_of_all_its_readers(
    cluster: dict[str, str], storage: tuple[str, str]
) -> None:
    with pytest.raises(Refusal, match="FILE_FILTER") as refused:
        check_table(facts(storage=Storage("hdfs://nn/db/t", *storage), cluster=cluster))
    assert all(f"{key}={value}" in str(refused.value) for key, value in cluster.items())
    assert "the cluster has" in str(refused.value)


def test_a_filter_that_is_set_to_nothing_or_is_one_of_other_readers_leaves_out_no_file() -> None:
    check_table(facts(cluster={"mapreduce.input.pathFilter.class": " "}))
    check_table(facts(cluster={"avro.mapred.ignore.inputs.without.extension": "true"}))
    avro = Storage("hdfs://nn/db/t", *AVRO)
    check_table(facts(storage=avro, cluster={"avro.mapred.ignore.inputs.without.extension": "false"}))


def test_lines_of_text_end_where_the_cluster_says() -> None:
    serde = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    text = Storage("hdfs://nn/db/t", "org.apache.hadoop.mapred.TextInputFormat", serde)
    with pytest.raises(Refusal, match="ENCODING"):
        check_properties(
            facts(storage=text, cluster={"textinputformat.record.delimiter": "|"}), text, "table db.t"
        )
    check_properties(
        facts(storage=text, cluster={"textinputformat.record.delimiter": "\n"}), text, "table db.t"
    )


def unit(location: str, **values: str | None) -> Unit:
    return Unit(tuple(values.items()), location)


def test_shared_and_nested_locations_overlap_but_prefixes_of_names_do_not() -> None:
    units = [
        unit("hdfs://nn/t/p=1", p="1"),
        unit("hdfs://nn/t/p=10", p="10"),
        unit("hdfs://nn/x/a", p="a"),
        unit("hdfs://nn/x/a/b", p="b"),
        unit("hdfs://nn/x/a-b", p="c"),
        unit("hdfs://nn/y", p="d"),
        unit("hdfs://nn/y", p="e"),
        unit("hdfs://nn", p="root"),
    ]
    table = facts(storage=Storage("hdfs://nn/t", *PARQUET), partition_keys=("p",))
    clashing = {u.spec[0][1] for u in units[:-1] if u.key in overlapping(units[:-1], table)}
    assert clashing == {"a", "b", "d", "e"}
    assert units[-1].key in overlapping(units, table)


def test_table_names() -> None:
    assert str(TableName.parse(" Sales.`Events` ")) == "sales.events"
    for bad in ("events", "a.b.c", ".x", ""):
        with pytest.raises(UsageError, match="is not a table name"):
            TableName.parse(bad)


def test_partition_specs_select_by_the_text_that_the_metastore_holds() -> None:
    units = [unit("a", date="1", ref="A"), unit("b", date="01", ref="A"), unit("c", date=None, ref="B")]
    specs = selection.parse_partitions('[{"DATE": "01"}, {"ref": "B"}]')
    assert selection.select(units, specs, "db.t") == (units[1:], [])
    assert selection.select(units, selection.parse_partitions([{"date": None}]), "db.t") == (units[2:], [])
    hive_null = selection.parse_partitions({"date": "__HIVE_DEFAULT_PARTITION__"})
    assert selection.select(units, hive_null, "db.t") == (units[2:], [])


def test_only_where_no_spec_selects_anything_it_is_an_error() -> None:
    units = [unit("a", date="1"), unit("b", date="01")]
    assert selection.select(units, [{"date": "2"}, {"date": "1"}], "db.t") == (units[:1], [{"date": "2"}])
    with pytest.raises(UsageError, match=r'partition \{"date": "2"\} does not exist in db\.t$'):
        selection.select(units, [{"date": "2"}], "db.t")
    with pytest.raises(UsageError, match="nor do the 1 others"):
        selection.select(units, [{"date": "2"}, {"date": "3"}], "db.t")


@pytest.mark.parametrize("bad", ["", "[]", "7", '["a"]', "[{}]", '[{"a": [1]}]', '[{"a": true}]'])
def test_bad_partition_specs_are_named(bad: str) -> None:
    with pytest.raises(UsageError):
        selection.parse_partitions(bad)


def test_wanted_units_that_are_gone_are_told() -> None:
    units = [unit("a", p="1"), unit("b", p=None)]
    found, gone = selection.pick(units, [{"p": None}, {"p": "2"}], ["p"])
    assert (found, gone) == ([units[1]], [{"p": "2"}])
    assert unit_key({"p": None}, ["p"]) == units[1].key


def test_wanted_units_must_name_every_key_in_any_case() -> None:
    upper = [unit("a", Date="d0")]
    assert selection.pick(upper, [{"date": "d0"}], ["Date"]) == (upper, [])
    for values in ({}, {"date": "d0", "zzz": "1"}, {"zzz": "1"}):
        with pytest.raises(UsageError, match="does not name exactly"):
            selection.pick(upper, [values], ["Date"])


def test_globs_choose_tables() -> None:
    names = ["events", "events_2p", "logs"]
    assert selection.match_tables(names, [], []) == names
    assert selection.match_tables(names, ["EVENTS*"], ["*_2p"]) == ["events"]
