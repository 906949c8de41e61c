"""What a Python worker makes of whole files: one file with their rows, schema and metadata, or a refusal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_jobs.adapters.spark.arrow import worker
from spark_jobs.adapters.spark.arrow.figures import Figures
from spark_jobs.adapters.spark.arrow.floats import has_nan, with_floats
from spark_jobs.adapters.spark.arrow.worker import Writing

WRITING = Writing(pa.__version__, "SNAPPY", None, b"ARROW:schema")
METADATA = {"org.apache.spark.version": "3.5.9", "other": "é"}


def _file(first: int = 0, rows: int = 10, metadata: dict[str, str] = METADATA, **more: Any) -> bytes:
    ids = list(range(first, first + rows))
    table = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "v": pa.array([None if number % 3 == 0 else f"1v{number}1" for number in ids]),
            "d": pa.array(ids, pa.decimal128(12, 2)),
            **more,
        }
    )
    out = pa.BufferOutputStream()
    with pq.ParquetWriter(
        out, table.schema, store_schema=False, store_decimal_as_integer=True, write_page_checksum=True
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)
    return bytes(out.getvalue())


def _batch(files: Sequence[bytes | None], unit: int = 0, count: int | None = None, longer: int = 0) -> Any:
    """A row for each file; the listing says that files are longer, and that there are `count` of them."""
    size = len(files)
    columns = [
        pa.array([unit] * size, pa.int32()),
        pa.array([size if count is None else count] * size, pa.int32()),
        pa.array([f"f{number}" for number in range(size)]),
        pa.array([len(content or b"") + longer for content in files], pa.int64()),
        pa.array(files, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, ["unit", "count", "name", "length", "content"])


def _rewritten(batches: Iterable[Any], writing: Writing = WRITING) -> tuple[dict[int, bytes], dict[int, str]]:
    """The bytes that the sink for text writes for each unit, and the refusals."""
    written: dict[int, bytes] = {}
    refused: dict[int, str] = {}
    for batch in worker.rewritten(iter(batches), writing, refused.__setitem__):
        assert batch.schema.names == ["unit", "value"]
        texts = batch.column(1).cast(pa.binary()).to_pylist()
        for unit, text in zip(batch.column(0).to_pylist(), texts, strict=True):
            written[unit] = written.get(unit, b"") + text + b"1"
    return written, refused


def _read(content: bytes) -> Any:
    return pq.ParquetFile(pa.BufferReader(content))


def _rows(*contents: bytes) -> list[dict[str, Any]]:
    return [row for content in contents for row in _read(content).read().to_pylist()]


def test_the_new_file_has_the_rows_the_schema_and_the_metadata() -> None:
    files = [_file(0), _file(10), _file(20, 1)]
    written, refused = _rewritten([_batch(files)])
    assert refused == {}
    file = _read(written[0])
    assert _rows(written[0]) == _rows(*files)
    assert str(file.schema).splitlines()[2:] == str(_read(files[0]).schema).splitlines()[2:]
    assert file.metadata.metadata == {key.encode(): value.encode() for key, value in METADATA.items()}
    assert file.metadata.row_group(0).column(0).compression == "SNAPPY"
    assert file.metadata.row_group(0).column(0).has_offset_index


def test_the_order_of_the_rows_is_that_of_the_files_over_batches_and_row_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "_ROW_GROUP_FILE_BYTES", 1)
    monkeypatch.setattr(worker, "_ROWS_AT_ONCE", 3)
    files = [_file(first) for first in (30, 0, 20)]
    batches = [_batch([file], count=3) for file in files]
    written, refused = _rewritten(batches)
    assert refused == {}
    assert _rows(written[0]) == _rows(*files)
    assert _read(written[0]).metadata.num_row_groups > 1


def test_a_file_is_cut_into_texts_before_its_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_TEXT_BYTES", 7)
    written, _ = _rewritten([_batch([_file(rows=500)])])
    assert len(_rows(written[0])) == 500


def test_each_unit_of_a_task_is_a_file_of_its_own_and_a_refused_one_is_none() -> None:
    written, refused = _rewritten(
        [_batch([_file(0)], 4), _batch([_file(5), _file(7)], 9, longer=1), _batch([_file(8)], 2)]
    )
    assert list(written) == [4, 2]
    assert _rows(written[2]) == _rows(_file(8))
    assert refused == {9: f"f0 has {len(_file(5))} bytes instead of {len(_file(5)) + 1}"}


def test_files_of_another_schema_or_with_other_metadata_are_refused() -> None:
    other = _file(more=pa.array([1.5] * 10))
    assert _rewritten([_batch([_file(), other])])[1] == {0: "f1 has another schema"}
    assert _rewritten([_batch([_file(), _file(metadata={})])])[1] == {0: "f1 has other metadata"}


def test_a_file_that_is_missing_cannot_be_read_or_is_left_out_is_refused() -> None:
    assert _rewritten([_batch([_file(), None])])[1] == {0: "f1 cannot be read"}
    assert _rewritten([_batch([_file()], count=2)])[1] == {0: "1 files were read instead of 2"}


def test_a_page_with_another_checksum_is_refused() -> None:
    content = bytearray(_file(rows=1000))
    content[60] ^= 0xFF
    written, refused = _rewritten([_batch([bytes(content)])])
    assert written == {}
    assert "checksum" in refused[0].lower()


def test_another_version_of_pyarrow_than_the_others_have_writes_nothing() -> None:
    written, refused = _rewritten([_batch([_file()])], WRITING._replace(version="1.2.3"))
    assert written == {}
    assert refused == {0: f"pyarrow is {pa.__version__} on an executor, and 1.2.3 on others"}


def _without_last_row(table: Any) -> Any:
    return table.slice(0, table.num_rows - 1)


def _with_nulls(table: Any) -> Any:
    return table.set_column(1, "v", pa.nulls(table.num_rows, pa.string()))


def _other_values(table: Any) -> Any:
    return table.set_column(0, table.schema.field(0), pa.array(range(1, table.num_rows + 1), pa.int64()))


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (_without_last_row, "20 rows were read and 19 written"),
        (_with_nulls, "column 'v' has other nulls: 20 instead of 7"),
        (_other_values, "column 'id' has other minimum than the files"),
    ],
)
def test_a_faulty_write_is_found_by_the_footer(monkeypatch: pytest.MonkeyPatch, fault: Any, why: str) -> None:
    concat = pa.concat_tables
    monkeypatch.setattr(pa, "concat_tables", lambda tables: fault(concat(tables)))
    written, refused = _rewritten([_batch([_file(0), _file(10)])])
    assert written == {}
    assert refused == {0: why}


def test_a_bound_that_is_nan_is_not_compared() -> None:
    """As some writers note it. The other bound, and those of other files, still are."""
    leaf = _read(_file(more=pa.array([1.5] * 10))).schema.column(3)

    def footer(low: float, high: float) -> Any:
        known = SimpleNamespace(
            has_null_count=True, null_count=0, has_min_max=True, min_raw=low, max_raw=high
        )
        chunk = SimpleNamespace(num_values=10, statistics=known)
        only = SimpleNamespace(column=lambda _: chunk)
        schema = SimpleNamespace(column=lambda _: leaf)
        return SimpleNamespace(
            num_rows=10, num_columns=1, num_row_groups=1, schema=schema, row_group=lambda _: only
        )

    before, after, other = Figures(), Figures(), Figures()
    before.add(footer(1.0, float("nan")))
    after.add(footer(1.0, 5.5))
    other.add(footer(2.0, 5.5))
    assert before.difference(after) is None
    assert before.difference(other) == "column 'more' has other minimum than the files"


def test_files_of_nulls_do_not_hide_the_bounds_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    nulls = _file(more=pa.nulls(10, pa.int64()))
    values = _file(more=pa.array(range(10), pa.int64()))
    assert _rewritten([_batch([nulls, values])])[1] == {}
    concat = pa.concat_tables

    def shifted(tables: Any) -> Any:
        table = concat(tables)
        more = [None if each is None else each + 1 for each in table["more"].to_pylist()]
        return table.set_column(3, table.schema.field(3), pa.array(more, pa.int64()))

    monkeypatch.setattr(pa, "concat_tables", shifted)
    assert _rewritten([_batch([nulls, values])])[1] == {0: "column 'more' has other minimum than the files"}


def test_lists_in_the_legacy_format_are_refused() -> None:
    """As Hive and Spark's legacy format name their groups. Arrow would name them by the standard."""
    table = pa.table({"a": pa.array([[1], [2]], pa.list_(pa.field("array_element", pa.int32())))})
    out = pa.BufferOutputStream()
    pq.write_table(table, out, store_schema=False, use_compliant_nested_type=False)
    written, refused = _rewritten([_batch([bytes(out.getvalue())])])
    assert written == {}
    assert refused == {0: "Arrow would write other types"}


@pytest.mark.parametrize("integers", [True, False])
def test_decimals_stay_integers_or_bytes(integers: bool) -> None:
    table = pa.table({"d": pa.array([-5, 3, None], pa.decimal128(9, 2))})
    out = pa.BufferOutputStream()
    pq.write_table(table, out, store_schema=False, store_decimal_as_integer=integers)
    written, refused = _rewritten([_batch([bytes(out.getvalue())])])
    assert refused == {}
    kind = "INT32" if integers else "FIXED_LEN_BYTE_ARRAY"
    assert _read(written[0]).schema.column(0).physical_type == kind
    assert _rows(written[0]) == table.to_pylist()


def test_the_schema_of_arrow_in_the_metadata_is_not_written() -> None:
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"v": pa.array(["a"], pa.large_string())}), out, store_schema=True)
    written, refused = _rewritten([_batch([bytes(out.getvalue())])])
    assert refused == {}
    assert b"ARROW:schema" not in (_read(written[0]).metadata.metadata or {})


def _odd(kind: str, value: float) -> Any:
    """A column with one odd number among others, by the form that it has."""
    numbers = pa.array([1.5, None, value], pa.float32() if kind == "float" else pa.float64())
    if kind == "struct":
        return pa.StructArray.from_arrays([pa.array([1, 2, 3]), numbers], ["a", "b"])
    if kind == "list":
        return pa.ListArray.from_arrays([0, 1, 2, 3], numbers)
    if kind == "map":
        return pa.MapArray.from_arrays([0, 1, 2, 3], pa.array(["a", "b", "c"]), numbers)
    return numbers


_KINDS = ["double", "float", "struct", "list", "map"]


@pytest.mark.parametrize("kind", _KINDS)
def test_nan_by_which_readers_skip_rows_of_arrow_is_refused(kind: str) -> None:
    files = [_file(rows=3, more=_odd(kind, 2.5)), _file(first=3, rows=3, more=_odd(kind, float("nan")))]
    assert _rewritten([_batch(files[:1])])[1] == {}
    assert _rewritten([_batch(files)]) == ({}, {0: "f1 has NaN"})


def test_nan_in_a_type_of_arrow_itself_is_found() -> None:
    tensor = pa.fixed_shape_tensor(pa.float32(), [1])
    stored = pa.array([[1.5], [float("nan")]], pa.list_(pa.float32(), 1))
    assert with_floats(pa.schema([("id", pa.int64()), ("tensor", tensor)])) == [1]
    assert has_nan(pa.ExtensionArray.from_storage(tensor, stored))


@pytest.mark.parametrize("kind", _KINDS)
def test_floats_have_no_dictionary_by_which_readers_skip_zeros(kind: str) -> None:
    (written, refused) = _rewritten([_batch([_file(rows=3, more=_odd(kind, -0.0))])])
    assert refused == {}
    (metadata,) = [_read(content).metadata for content in written.values()]
    chunks = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    floats = [chunk.has_dictionary_page for chunk in chunks if chunk.physical_type in ("FLOAT", "DOUBLE")]
    assert floats == [False]
    assert any(chunk.has_dictionary_page for chunk in chunks)


def test_dictionaries_have_the_encoding_of_version_1() -> None:
    """As parquet-java writes them, and Impala before 4.0 knows them."""
    (written, _) = _rewritten([_batch([_file(rows=100), _file(rows=100)])])
    (metadata,) = [_read(content).metadata for content in written.values()]
    encodings = {metadata.row_group(0).column(number).encodings for number in range(metadata.num_columns)}
    assert metadata.format_version == "1.0"
    assert any("PLAIN_DICTIONARY" in each for each in encodings)
    assert not any("RLE_DICTIONARY" in each for each in encodings)


def test_a_value_of_many_rows_is_not_in_memory_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    table = pa.Table.from_batches

    def noted(batches: Any, *more: Any) -> Any:
        read.extend(batch.num_rows for batch in batches)
        return table(batches, *more)

    content = _file(rows=5000, more=pa.array(["x" * 1000] * 5000))
    monkeypatch.setattr(pa, "Table", SimpleNamespace(from_batches=noted))
    written, refused = _rewritten([_batch([content])])
    monkeypatch.undo()
    assert (sum(read), max(read), refused) == (5000, 1024, {})
    assert _rows(written[0]) == _rows(content)
