"""The verbs of the jobs, each with the command lines that the texts are tried with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spark_jobs.core.options.option import DOCTOR, VERBS
from tests.hostile.corpus import LONG, ODD, SECRETS, TEXTS, VARIABLES
from tests.hostile.records import put_text_into_open_units
from tests.hostile.report import hostile_report, hostile_table
from tests.hostile.tables import GONE, PARTITIONED, RECORDS, TABLES

Call = tuple[str, list[str]]
#: No process can be given a zero byte, or half a character.
ARGUMENTS = [text for text in TEXTS if text not in (*ODD, LONG)]
PARTS = (*PARTITIONED, "placed")


@dataclass(frozen=True)
class Place:
    """Where the verbs work: the database, its directory, and the directory for reports and arguments."""

    database: str
    data: Path
    work: Path

    def names(self, tables: Sequence[str]) -> list[str]:
        return ["--tables", ",".join(f"{self.database}.{table}" for table in tables)]

    def report(self, name: str) -> list[str]:
        return ["--report", str(self.work / f"{name}.json")]


def on_tables(place: Place) -> Iterator[Call]:
    """Yield what a night does to all tables: what one verb leaves is what the next one reads."""
    everything = place.names(TABLES)
    parts = place.names(PARTS)
    where = " OR ".join(f"p = '{text}'" for text in (VARIABLES[0], "a=b", "${"))
    yield "analyze", [*everything, "--log-level", "DEBUG", *place.report("analyze")]
    yield DOCTOR, [*everything, *place.report("doctor")]
    yield "plan", [*everything, "--strategy", "minor", "--sort-columns", "v", *place.report("plan")]
    yield "compact", [*parts, "--dry-run", *place.report("dry_run")]
    few = ["--max-units", "3", "--where", where, "--verify", "hash", "--analyze-stats"]
    yield "compact", [*parts, *few, *place.report("limited")]
    put_text_into_open_units(place.data, VARIABLES[0])
    yield "analyze", [*parts, "--strategy", "minor", *place.report("deferred")]
    yield "compact", [*everything, "--run-id", "first", "--engine", "arrow", *place.report("first")]
    yield "check", [*everything, "--read-data", *place.report("check")]
    yield "history", [*everything, "--units", "--snapshots", *place.report("history")]
    with _new_data(place.data / "textfile"):
        refusing = [*place.names(["textfile"]), "--on-new-data", "refuse"]
        yield "rollback", [*refusing, *place.report("refusing")]
    yield "rollback", [*parts, *place.report("rollback")]
    planned = ["--plan", str(place.work / "plan.json"), "--canary", "1", "--engine", "arrow"]
    yield "compact", [*planned, *place.report("planned")]


@contextmanager
def _new_data(table: Path) -> Iterator[None]:
    """One partition has a new file, so that a run is rolled back in part."""
    path = min(table.glob("p=*")) / "new"
    path.write_text("new\n")
    yield
    path.unlink()


def on_records(place: Place) -> Iterator[Call]:
    """Yield what works on the records of runs, after texts have been put into them."""
    gone = ["--location", (place.data / GONE).as_uri()]
    forget, retention = ["--run-id", "first", "--yes"], ["--older-than", "0s", "--skip-trash"]
    verbs = ("check", "history", "analyze", "compact", "rollback", "forget", "cleanup")
    each = (
        ("records", place.names(RECORDS), verbs),
        # Their originals are left to the cleanup.
        ("parts", place.names(PARTS), tuple(verb for verb in verbs if verb != "rollback")),
        ("gone", gone, ("check", "forget", "cleanup")),
    )
    for name, tables, those in each:
        for verb in those:
            own = {"forget": forget, "cleanup": retention}.get(verb, [])
            yield verb, [*tables, *own, *place.report(f"{name}-{verb}")]


def on_texts(place: Place) -> Iterator[Call]:
    """Yield command lines and files with texts in the place of a name, a condition, a value or a request."""
    places = _places(place)
    for number, text in enumerate(ARGUMENTS):
        for offset in range(2):
            verb = VERBS[(number + offset) % len(VERBS)]
            words = places[(number // len(VERBS) + number + 5 * offset) % len(places)](text)
            yield verb, [*words, *_needed(verb, words)]
    for text in ARGUMENTS[:4]:
        yield DOCTOR, ["--table", f"{place.database}.{text}"]
        yield DOCTOR, ["--database", text]
    for number, text in enumerate(ARGUMENTS):
        yield "compact", ["--plan", _file(place, f"plan-{number}", _plan(place, text))]
    broken = f"settings:\n  token: {SECRETS['YAML file']}\n {VARIABLES[0]}: [\n"
    (place.work.parent / "secret").mkdir()
    (place.work.parent / "secret" / "broken.yaml").write_text(broken)
    for verb in (*VERBS, DOCTOR):
        words = [
            *place.names(["options"]),
            "--config-file",
            str(place.work.parent / "secret" / "broken.yaml"),
        ]
        yield verb, [*words, *_needed(verb, words)]


def _needed(verb: str, words: list[str]) -> list[str]:
    own = {"forget": ["--run-id", "r"], "cleanup": ["--older-than", "2d"]}.get(verb, [])
    return [] if own[:1] == ["--run-id"] and "--run-id" in words else own


def _places(place: Place) -> list[Callable[[str], list[str]]]:
    one = place.names(["parquet"])
    name = f"{place.database}.parquet"
    return [
        lambda text: ["--table", f"{place.database}.{text}"],
        lambda text: ["--tables", f"{text},{name}"],
        lambda text: ["--database", text],
        lambda text: ["--database", place.database, "--include", text, "--exclude", "*"],
        lambda text: [*one, "--where", f"p = '{text}' OR {text}"],
        lambda text: [*one, "--partitions", json.dumps([{"p": text}, {text: text}])],
        lambda text: [*one, "--run-id", text],
        lambda text: [*one, "--sort-columns", text],
        lambda text: [*one, "--trusted-owners", text],
        lambda text: ["--location", text],
        lambda text: [*one, f"--{text}"],
        lambda text: [*one, "--request", _request(place, {"units": {name: [{"p": text}]}})],
        lambda text: [*one, "--request", _request(place, {"arguments": {text: text}, "runs": {"*": [text]}})],
        lambda text: [*one, "--request", _request(place, {"runs": {name: [text]}})],
        lambda text: [*one, "--config-file", _request(place, {"settings": {text: text}, text: text})],
    ]


def _request(place: Place, content: object) -> str:
    return _file(place, "request", json.dumps(content))


def _plan(place: Place, text: str) -> str:
    """Return a plan with a text in each place, for a table that there is."""
    table = hostile_table(text, "done", f"{place.database}.orc")
    return json.dumps({**hostile_report("plan", "done", [table], text), "error": None})


def _file(place: Place, name: str, content: str) -> str:
    path = place.work / f"{name}-of-a-person.json"
    path.write_text(content)
    return str(path)
