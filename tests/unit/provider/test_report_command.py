"""The command `report`: a report that was kept, as a text or as a page."""

from __future__ import annotations

import json
import re

import pytest

from lakekeeper_provider.shell import cli
from tests.hostile import corpus
from tests.unit.provider.test_report import table
from tests.unit.provider.test_report_units import flagged


@pytest.fixture
def kept(tmp_path):
    done = {**flagged(1), "outcome": "compacted", "files_after": 2, "bytes_after": 100_000}
    report = {"schema_version": 1, "verb": "compact", "run_id": "r1", "outcome": "done", "error": None}
    report |= {"tables": [table(units=[done, flagged(2, outcome="deferred")], warnings=["TYPE: odd"])]}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    return path


def test_a_report_is_shown_as_in_the_task_log(kept, capsys):
    assert cli.main(["report", str(kept)]) == 0
    assert capsys.readouterr().out.startswith("compact: done, 1 table, run r1\n")


def test_a_page_needs_nothing_beside_itself(kept, capsys):
    assert cli.main(["report", str(kept), "--html"]) == 0
    assert capsys.readouterr().out == f"wrote {kept.with_suffix('.html')}\n"
    page = kept.with_suffix(".html").read_text()
    assert "sales.events" in page
    assert "200 &rarr; 2" in page
    assert "TYPE: odd" in page
    assert 'class="bars"' in page
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert "default-src 'none'" in page


def test_a_page_may_go_to_standard_output_or_elsewhere(kept, tmp_path, capsys):
    assert cli.main(["report", str(kept), "--html", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    assert cli.main(["report", str(kept), "--html", "-o", str(tmp_path / "x.html")]) == 0
    assert (tmp_path / "x.html").exists()


OF_ANOTHER_VERSION = '{"verb": "compact", "schema_version": 9}'


@pytest.mark.parametrize("content", ["", "{}", "[]", "7", '{"verb": "compact"}', OF_ANOTHER_VERSION])
def test_what_is_no_report_is_named(tmp_path, capsys, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    assert cli.main(["report", str(path), "--html"]) == 2
    assert str(path) in capsys.readouterr().err
    assert not path.with_suffix(".html").exists()


def _with(kept, **changes):
    report = json.loads(kept.read_text())
    report["tables"][0].update(changes)
    return json.dumps(report)


DEEP = '{"verb": "compact", "schema_version": 1, "tables": ' + "[" * 100_000


@pytest.mark.parametrize("words", [(), ("--html",)])
@pytest.mark.parametrize(
    "change",
    [
        {"units": "text"},
        {"units": [{"unit": {"d": "1"}}]},
        {"units": [{"outcome": "failed"}]},
        {"before": [1]},
        {"before": {"files": "many", "bytes": 1}},
        {"before": {"files": 1e999, "bytes": 1}, "after": {"files": 1, "bytes": 10**401}},
        {"warnings": [7]},
        {"table": 7},
        None,
    ],
)
def test_a_report_with_anything_anywhere_is_shown_or_named(kept, capsys, words, change):
    text = DEEP if change is None else _with(kept, **change)
    kept.write_text(text)
    code = cli.main(["report", str(kept), *words])
    err = capsys.readouterr().err
    assert (code, err.count("\n"), str(kept) in err) in ((0, 0, False), (2, 1, True))
    assert kept.read_text() == text


@pytest.mark.parametrize("name", ["run.2026.01", "r.html", "report"])
def test_each_report_has_a_page_of_its_own(kept, capsys, name):
    report = kept.rename(kept.with_name(name))
    before = report.read_text()
    assert cli.main(["report", str(report), "--html"]) == 0
    assert capsys.readouterr().out == f"wrote {report}.html\n"
    assert report.read_text() == before


def test_a_page_does_not_replace_its_report(kept, capsys):
    before = kept.read_text()
    assert cli.main(["report", str(kept), "--html", "-o", str(kept)]) == 2
    assert "is the report itself: name another file with --output" in capsys.readouterr().err
    assert kept.read_text() == before


def test_a_file_that_is_missing_is_named(capsys):
    assert cli.main(["report", "/missing/report.json"]) == 2
    assert "cannot read /missing/report.json" in capsys.readouterr().err


@pytest.mark.parametrize("text", filter(None, corpus.TEXTS), ids=corpus.name_of)
def test_texts_of_a_table_are_no_markup(tmp_path, text):
    def tags(value):
        unit = {**flagged(1), "outcome": "failed", "unit": {value: value}, "reason": value, "code": value}
        one = table(value, units=[unit, flagged(2)], warnings=[value], reason=value, code=value)
        report = {
            "schema_version": 1,
            "verb": "compact",
            "run_id": value,
            "outcome": "partial",
            "error": value,
        }
        (tmp_path / "r.json").write_text(json.dumps({**report, "tables": [one]}))
        assert cli.main(["report", str(tmp_path / "r.json"), "--html"]) == 0
        return re.findall(r"<[^>]*>", (tmp_path / "r.html").read_text())

    assert [re.match(r"</?\w+|<!", tag)[0] for tag in tags(text)] == [
        re.match(r"</?\w+|<!", tag)[0] for tag in tags("plain")
    ]
