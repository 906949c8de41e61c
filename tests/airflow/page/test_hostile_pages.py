"""The hostile texts in every place of every page: they stay texts, and change nothing of what is around them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.airflow.page.conftest import NOW, event
from tests.hostile import corpus

#: Beside the corpus of all suites: what only a browser or a template would execute.
TEXTS = [
    *filter(None, corpus.TEXTS),  # an empty one is left out where it would stand
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'><svg/onload=alert(1)>", "</script>"),
    *("<!--", "javascript:alert(1)", "{{ 7 * 7 }}", "{% raw %}", "&lt;b&gt;", "\u2028\u2029", "]]>"),
]
#: A text that nothing takes for more than a text.
PLAIN = "plain"
#: A metastore has names of at most 128 characters.
_LONGEST_ADDRESS = 2_000


class Structure(HTMLParser):
    """Tags with the names of their attributes, and the addresses; not the texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.addresses |= {str(value) for name, value in attrs if name in ("href", "src", "action")}

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", ()))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def records(text: str) -> dict[str, dict[str, Any]]:
    """What an analysis and a compaction say of a table, with the text in each place."""
    unit = {"unit": {text: text}, "files": 3, "bytes": 9}
    left = {**unit, "outcome": text, "code": text, "reason": text}
    opened = {"units": 1, "since": text, "names": [{text: text}], "last": {text: 1}}
    whole = {"table": text, "outcome": text, "code": text, "reason": text, "run_id": text}
    whole |= {
        "files": 9,
        "bytes": 9,
        "partitions": 5,
        "flagged": 4,
        "flagged_files": 3,
        "target_files": 1,
        "open": opened,
    }
    whole |= {"outcomes": {text: 3}, "warning_codes": {text: 1}, "skipped": {text: 2}, "warnings": [text]}
    whole |= {"left": [left], "flagged_units": [unit], "held_runs": 1, "held_bytes": 2, "held_since": text}
    whole |= {"writers": [{"owner": text, "pattern": text, "files": 1, "bytes": 1, "newest": text}]}
    sizes = {"files_before": 3, "files_after": 1, "bytes_before": 9, "bytes_after": 8}
    return {"analyze": whole, "compact": {**whole, "rewritten": sizes}}


def pages(client: Any, recorded: Any, text: str) -> dict[str, Structure]:
    """Each page, with this text in each place of it."""
    told = {"run_id": text, "outcome": text, "report": text, "ended": text, "source_run_id": "scheduled__1"}
    recorded(
        *(event(record, verb=verb, at=NOW, **told, older_than=text) for verb, record in records(text).items())
    )
    asked, run = client("admin"), {"dag_id": "nightly", "run_id": "scheduled__1"}
    written = text.encode("utf-8", "replace").decode()
    addresses = {
        "list": "/lakekeeper/?" + urlencode({"sort": written[:200], "page": written[:200]}),
        "filtered": "/lakekeeper/?" + urlencode({"name": written[:200], "database": ""}),
        "table": "/lakekeeper/table?" + urlencode({"server": "hive:10000", "name": written}),
        "run": "/lakekeeper/run?" + urlencode(run),
        "task": "/lakekeeper/task?" + urlencode({**run, "task_id": "compact", "map_index": -1}),
    }
    if len(text) > _LONGEST_ADDRESS:
        del addresses["table"]
    answers = {name: asked.get(address) for name, address in addresses.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(addresses, 200)
    return {name: Structure(answer.text) for name, answer in answers.items()}


#: What the pages of the plain text are made of; they are looked at once.
EXPECTED: dict[str, Structure] = {}


def test_a_plain_text_is_on_each_page(client, recorded):
    EXPECTED.update(pages(client, recorded, PLAIN))
    assert {name for name, page in EXPECTED.items() if PLAIN in page.texts} == set(EXPECTED)


@pytest.mark.parametrize("text", TEXTS, ids=corpus.name_of)
def test_a_text_stays_a_text(client, recorded, text):
    for name, page in pages(client, recorded, text).items():
        if (
            name != "filtered" or "No table matches the filter." not in page.texts
        ):  # spaces around it do not count
            assert page.tags == EXPECTED[name].tags, name
        assert {urlsplit(each).scheme for each in page.addresses} == {""}, name
