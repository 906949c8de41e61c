"""Whatever stands in a journal, nothing outside its table's own homes and units is renamed or deleted.

Somebody who may write the table's root plants it, as the account that the jobs trust, and knows all there is to know of
other directories: their paths, identities and files.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_jobs.core.records import journal
from tests.crash import writers
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

ROOT, OUTSIDE = f"{WAREHOUSE}/events", f"{AUTHORITY}/elsewhere"
HOMES = (f"{ROOT}/.lakekeeper", f"{OUTSIDE}/.lakekeeper-c")
LEDGER = f"{AUTHORITY}/finance/ledger"
RUN = "planted.0123456789ab"
VERBS = ["compact", "rollback", "cleanup", "cleanup", "analyze"]
RETENTION = ("--older-than", "0s", "--skip-trash")


def cluster() -> SimulatedCluster:
    """Beside the table: another one, with a home and originals of its own."""
    sim = build()
    writers.create_table(sim, "finance.ledger", LEDGER, keys=("d",))
    for day in "12":
        place = writers.add_partition(sim, "finance.ledger", day)
        for _ in range(3):
            writers.append(sim, place, sim.ledger.fresh(3))
    run(sim.client(), "compact", "--tables", "finance.ledger", "--run-id", "theirs")
    run(sim.client(), "compact", "--tables", EVENTS, "--run-id", "ours")
    return sim


SIM = cluster()
FOLDERS = [path for path, _, inode in SIM.tree.walk(AUTHORITY) if inode.is_dir]


def identity(folder: str) -> str:
    return f"hdfs:{SIM.tree.find(folder)}"


def manifest(folder: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "length": file.length,
            "mtime": file.mtime,
            "file_id": SIM.tree.find(f"{folder}/{name}"),
        }
        for name, file in SIM.tree.files(folder)
    ]


TAILS = [
    "k=a",
    "k=b",
    "k=c",
    "c",
    "d=1",
    "../events/k=a",
    "../../finance/ledger/d=1",
    "",
    ".lakekeeper",
    "k=a/..",
]
#: Directories that are none of the table's; with files above all.
VICTIMS = st.sampled_from(
    [folder for folder in FOLDERS if folder.startswith(LEDGER) or "/flat" in folder or folder == WAREHOUSE]
)
KINDS = ["new", "old", "aside", "conflict"]
WORKING = {"new": "__compact_tmp_", "old": "__originals_", "aside": "__aside_", "conflict": "__conflict_"}


def relative(folder: str, home: str) -> str:
    """As a run's folder in this home would have to name it."""
    ups = f"{home}/{RUN}".count("/") - AUTHORITY.count("/")
    return f"{'../' * ups}{folder[len(AUTHORITY) + 1 :]}"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(FOLDERS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
statistics = st.fixed_dictionaries(
    {"before": st.dictionaries(st.sampled_from(["numFiles", "location"]), anything, min_size=1)},
    optional={"after": anything},
)
paths = st.sampled_from(
    [
        *FOLDERS,
        *(relative(folder, home) for folder in FOLDERS for home in HOMES),
        *(f"{prefix}1772323200/{tail}" for prefix in WORKING.values() for tail in TAILS),
    ]
)


@st.composite
def swaps(draw: Any, home: str) -> dict[str, Any]:
    """Most are as ours would be, and lead elsewhere in a part or two: what is wrong all over is seen at once.
    Identities and files are those of the directories that are named."""
    tail = draw(st.sampled_from(["k=a", "k=b", "c"]))
    own = f"{OUTSIDE}/c" if home == HOMES[1] else f"{ROOT}/{tail}"
    body: dict[str, Any] = {
        "spec": [["k", tail[-1]]],
        "live": own,
        **{kind: f"{WORKING[kind]}1772323200/{tail}" for kind in KINDS},
        "rows": 3,
    }
    places = {"live": own, **{kind: f"{home}/{RUN}/{body[kind]}" for kind in KINDS}}
    for name in draw(st.lists(st.sampled_from(["live", *KINDS]), min_size=1, max_size=3, unique=True)):
        places[name] = draw(VICTIMS)
        body[name] = places[name] if name == "live" else relative(places[name], home)
    before, after = draw(
        st.sampled_from([("old", "live"), ("live", "new"), ("old", "new"), ("live", "aside")])
    )
    body |= {"live_id": identity(places[before]), "originals": manifest(places[before])}
    body |= {"new_id": identity(places[after]), "compacted": manifest(places[after])}
    for name in draw(st.lists(st.sampled_from(sorted(body)), max_size=1)):
        body[name] = draw(anything if draw(st.booleans()) else paths)
    return body


@st.composite
def records(draw: Any, home: str) -> list[dict[str, Any]]:
    first = {
        "kind": journal.RUN,
        "table": EVENTS,
        "location": draw(st.sampled_from([ROOT, ROOT, LEDGER])),
        "homes": draw(st.lists(st.sampled_from([*HOMES, f"{LEDGER}/.lakekeeper", LEDGER]), max_size=3)),
        "home_id": draw(st.sampled_from([None, identity(home), identity(home), identity(LEDGER)])),
    }
    prepared = draw(st.lists(swaps(home), min_size=1, max_size=2))
    keys = [json.dumps(swap["spec"], ensure_ascii=False) for swap in prepared]
    later = st.fixed_dictionaries(
        {
            "kind": st.sampled_from(
                [
                    journal.COMMITTED,
                    journal.ROLLBACK_PREPARED,
                    journal.CLEANUP_CLAIMED,
                    journal.DISCARDED,
                    journal.CONFLICT,
                    journal.STATISTICS,
                    journal.LEFT,
                    journal.FINISHED,
                ]
            ),
            "units": st.just([{"unit": key} for key in keys]) | anything,
            "statistics": st.dictionaries(st.sampled_from(keys), statistics | anything, max_size=2)
            | anything,
            "has_open_intent": st.booleans() | anything,
            "homes": st.just(list(HOMES)) | st.lists(st.sampled_from(FOLDERS), max_size=2) | anything,
            "outcome": st.just("done"),
        }
    )
    return [first, {"kind": journal.PREPARED, "swaps": prepared}, *draw(st.lists(later, max_size=3))]


def planted(home: str, found: list[dict[str, Any]], folders: list[str]) -> SimulatedCluster:
    """With working folders of the run, and what somebody moved into them."""
    sim = SIM.copy()
    sim.tree.make_dirs(f"{home}/{RUN}")
    for folder in folders:
        sim.tree.make_dirs(f"{home}/{RUN}/{folder}")
    for number, body in enumerate(found, 1):
        text = json.dumps({"schema_version": 1, "at": "2026-03-01T00:00:00+00:00", **body})
        sim.tree.write(f"{home}/{RUN}/journal/{number:06d}.json", text.encode(), parents=True)
    return sim


def others(sim: SimulatedCluster) -> dict[str, int]:
    """All that is none of the table's: path -> inode."""
    own = (f"{ROOT}/", f"{OUTSIDE}/c/", f"{OUTSIDE}/c", f"{HOMES[1]}/", HOMES[1], f"{AUTHORITY}/user/")
    return {path: number for path, number, _ in sim.tree.walk(AUTHORITY) if not path.startswith(own)}


@st.composite
def attacks(draw: Any) -> tuple[str, list[dict[str, Any]], list[str], list[str]]:
    """The home, the records, the run's working folders, and who comes then."""
    home = draw(st.sampled_from(HOMES))
    folders = st.lists(st.sampled_from([f"{prefix}1772323200" for prefix in WORKING.values()]), max_size=4)
    verbs = st.lists(st.sampled_from(VERBS), min_size=1, max_size=2, unique=True)
    return home, draw(records(home)), draw(folders), draw(verbs)


def attack(home: str, found: list[dict[str, Any]], folders: list[str], verbs: list[str]) -> None:
    sim = planted(home, found, folders)
    before = others(sim)
    for verb in verbs:
        report = run(sim.client(), verb, "--tables", EVENTS, *(RETENTION if verb == "cleanup" else ()))
        assert report["error"] is None
        assert others(sim) == before


HOW = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=400, **HOW)
@given(attacks())
def test_no_journal_leads_out_of_its_table(found: Any) -> None:
    attack(*found)


@pytest.mark.full
@settings(max_examples=5000, **HOW)
@given(attacks())
def test_no_journal_of_many_leads_out_of_its_table(found: Any) -> None:
    attack(*found)
