"""Records that others may have planted: each is bounded, and a wrong one ends in a message."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError, Unsafe
from spark_jobs.core.planning import kept_footers
from spark_jobs.core.planning.survey import decode_survey
from spark_jobs.core.records import record_files, snapshots
from spark_jobs.core.records.journal import Record, state_after
from spark_jobs.core.records.settled_runs import SettledRecord
from spark_jobs.core.records.snapshots import BrokenLog, ManifestList, Snapshot, decode_entries
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.commit_log.store import CommitLog
from spark_jobs.protocol.commit_log.unit_hints import DeferredStore
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.runs.journal_store import Journal
from spark_jobs.protocol.runs.lease_files import read_content
from spark_jobs.protocol.runs.settled_store import SettledStore
from spark_jobs.protocol.runs.trust import Trust
from tests.unit.core.faulty_memory_fs import HOME, MemoryFs
from tests.unit.core.memory_log import compact, log

NAME = "the file"
#: What decodes a record of each kind, and whether it is compressed.
DECODERS: dict[str, tuple[Callable[[bytes], object], bool]] = {
    "snapshot": (lambda data: Snapshot.decode(data, NAME), False),
    "manifest list": (lambda data: ManifestList.decode(data, NAME), True),
    "manifest": (lambda data: decode_entries(data, NAME), True),
    "survey": (lambda data: decode_survey(data, NAME), True),
    "kept footers": (lambda data: kept_footers.decode(data, NAME), True),
    "settled runs": (lambda data: SettledRecord.decode(data, NAME), True),
    "journal": (lambda data: state_after([Record.decode(data, NAME)]), False),
}
DEEP = b"[" * 200_000
WRONG = [
    *(b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", DEEP, b'{"schema_version": 1, "units": ' + DEEP),
    *(
        b'{"schema_version": 1}',
        b'{"schema_version": {}}',
        b"1" * 6000,
        b'{"a": 1e999}',
        b'{"schema_version": NaN}',
    ),
    *(b'{"schema_version": 1, "units": [null]}', b'{"schema_version": 1, "kinds": [[]], "location": 1}'),
    *(
        b'{"schema_version": 1, "kind": [], "at": 1}',
        b'{"schema_version": 1, "kind": "RUN", "at": "0001-01-01"}',
    ),
]


@pytest.mark.parametrize("kind", DECODERS)
@pytest.mark.parametrize("data", WRONG, ids=[repr(data[:30]) for data in WRONG])
def test_a_wrong_record_is_an_error_of_the_jobs(kind: str, data: bytes) -> None:
    decode, compressed = DECODERS[kind]
    for content in (data, gzip.compress(data)) if compressed else (data,):
        with suppress(LakekeeperError):
            decode(content)


@pytest.mark.parametrize("kind", [kind for kind, (_, compressed) in DECODERS.items() if compressed])
def test_a_record_that_grows_without_bounds_is_not_decompressed(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(record_files, "MOST_BYTES", 1 << 20)
    read: list[int] = []
    monkeypatch.setattr(record_files.gzip, "GzipFile", _counting(read))
    bomb = gzip.compress(b"[" + b" " * (64 << 20))
    assert len(bomb) < 1 << 20
    with pytest.raises((BrokenLog, Unsafe), match="more than 1048576 bytes"):
        DECODERS[kind][0](bomb)
    assert max(read) == (1 << 20) + 1


def _counting(read: list[int]) -> type[gzip.GzipFile]:
    class Counting(gzip.GzipFile):
        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            read.append(len(found))
            return found

    return Counting


def test_a_bomb_does_not_take_the_memory_of_the_driver(tmp_path: Path) -> None:
    """3 GB of blanks in 3 MB, in a process that may have one."""
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(b" " * (1 << 20)) * (3 << 10))
    code = (
        "import sys; from pathlib import Path; from spark_jobs.core.planning.survey import decode_survey\n"
        "try: decode_survey(Path(sys.argv[1]).read_bytes(), 'x')\n"
        "except Exception as error: print(type(error).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bomb)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert done.stdout == "BrokenLog\n"


@pytest.mark.parametrize(("kind", "part"), [("journal", "[],"), ("survey", '{"a":0},'), ("manifest", "\n")])
def test_a_record_of_many_values_does_not_take_the_memory_of_the_driver(
    tmp_path: Path, kind: str, part: str
) -> None:
    """An empty list has 56 bytes in Python, and three in JSON: 96 MB of JSON would be gigabytes of objects."""
    content = b'{"schema_version": 1, "units": [' + part.encode() * ((96 << 20) // len(part)) + b"0]}"
    record = tmp_path / "record"
    record.write_bytes(gzip.compress(content, 1) if DECODERS[kind][1] else content)
    code = (
        "import sys; from pathlib import Path; from tests.unit.core.test_record_files import DECODERS\n"
        f"try: DECODERS[{kind!r}][0](Path(sys.argv[1]).read_bytes())\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(record)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20)),
    )
    assert done.stdout.startswith("Unsafe" if kind == "journal" else "BrokenLog")
    assert f"more than {record_files.MOST_VALUES} values" in done.stdout


@pytest.mark.full
def test_a_record_of_a_wave_of_a_million_files_is_read() -> None:
    files = FileListing.of(FileEntry(f"part-{n:07}-0b8f7c7e", 1 << 20, 1, n) for n in range(1 << 20))
    found = record_files.parsed(json.dumps({"originals": files.to_json()}).encode())
    assert len(found["originals"]) == 1 << 20


def _published() -> tuple[MemoryFs, dict[str, bytes]]:
    fs = MemoryFs()
    log(fs).publish(compact(), survey={})
    return fs, {path: data for path, (data, _) in fs.files.items()}


@pytest.mark.parametrize(
    "key", ["id", "units", "rows", "run_id", "table", "base", "kind", "before", "survey"]
)
@pytest.mark.parametrize("value", [None, [], {}, "x", True, 1.5, 1])
def test_a_field_of_another_type_is_a_broken_log(key: str, value: Any) -> None:
    fs, files = _published()
    (path,) = [path for path in files if path.endswith("/snapshot-1")]
    body = json.loads(files[path])
    if type(body[key]) is type(value):
        return
    fs.files[path] = json.dumps({**body, key: value}).encode(), 0
    if key == "survey" and value is None:
        assert log(fs).survey() == {}
        return
    with pytest.raises(BrokenLog, match="snapshot-1"):
        log(fs).snapshots()


class _Owned(MemoryFs):
    """A file system whose listings have owners and sizes as a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.owners: dict[str, str] = {}
        self.lengths: dict[str, int] = {}
        self.read_paths: list[str] = []

    def _status(self, path: str) -> Status | None:
        found = super()._status(path)
        if found is None:
            return None
        length = self.lengths.get(path, found.length)
        return found._replace(owner=self.owners.get(path, "operator"), length=length)

    def _read(self, path: str) -> bytes:
        self.read_paths.append(path)
        return super()._read(path)


def _owned() -> tuple[_Owned, CommitLog]:
    fs = _Owned()
    log(fs).publish(compact(), survey={})
    return fs, CommitLog(fs, HOME, fs.now, Trust(fs, None, ["etl"]))


def _read_all(of: CommitLog) -> None:
    for snapshot in of.snapshots():
        of.files(snapshot)
    of.survey()


@pytest.mark.parametrize("part", ["/snapshot-1", "/manifest-list-", "/manifest-", "/survey-"])
def test_a_file_of_the_log_by_another_account_is_not_read(part: str) -> None:
    fs, found = _owned()
    planted = [path for path in fs.files if part in path and (part != "/manifest-" or "list" not in path)]
    assert planted
    fs.owners = dict.fromkeys(planted, "mallory")
    fs.read_paths.clear()
    with pytest.raises(BrokenLog, match=r"mallory.*trusted_owners"):
        _read_all(found)
    assert not set(planted) & set(fs.read_paths)
    fs.owners = dict.fromkeys(planted, "etl")
    _read_all(CommitLog(fs, HOME, fs.now, Trust(fs, None, ["etl"])))


@pytest.mark.parametrize("part", ["/snapshot-1", "/manifest-list-", "/manifest-", "/survey-"])
def test_a_file_of_the_log_that_is_too_large_is_not_read(part: str) -> None:
    fs, found = _owned()
    planted = [path for path in fs.files if part in path]
    fs.lengths = dict.fromkeys(planted, record_files.MOST_BYTES + 1)
    fs.read_paths.clear()
    with pytest.raises(BrokenLog, match="cannot be read: it has more than"):
        _read_all(found)
    assert not set(planted) & set(fs.read_paths)


def test_hints_journals_and_records_that_are_too_large_are_not_read() -> None:
    fs = _Owned()
    trust = Trust(fs, None)
    survey, journal = f"{HOME}/log/survey", f"{HOME}/r1.0/journal"
    for folder in (survey, journal, f"{HOME}/settled"):
        fs.mkdirs(folder)
    paths = {
        f"{survey}/deferred-000001": snapshots.packed({"deferred": {"u": "t"}}),
        f"{journal}/000001.json": b"{}",
        f"{HOME}/settled/000001.json.gz": b"",
    }
    for path, data in paths.items():
        fs.create(path, data)
    assert DeferredStore(fs, HOME, trust).read() == {"u": "t"}
    fs.lengths = dict.fromkeys(paths, record_files.MOST_BYTES + 1)
    fs.read_paths.clear()
    assert NumberedHint(fs, HOME, trust, "deferred").read() is None
    with pytest.raises(Unsafe, match=r"000001\.json cannot be read"):
        Journal(fs, f"{HOME}/r1.0").state()
    with pytest.raises(Unsafe, match="Move it away"):
        SettledStore(fs, HOME, trust).read()
    assert fs.read_paths == []


@pytest.mark.parametrize("data", [b"", DEEP, b"[]", b'{"owner": 1}', b"\xff", b"1" * 6000])
def test_a_lease_that_nobody_of_us_has_written_says_nothing(data: bytes) -> None:
    fs = _Owned()
    fs.create(f"{HOME}/lease-000001", data)
    assert read_content(fs, f"{HOME}/lease-000001").get("owner") in (None, 1)
    fs.read_paths.clear()
    assert read_content(fs, f"{HOME}/lease-000001", 1 << 30) == {}
    assert fs.read_paths == []
