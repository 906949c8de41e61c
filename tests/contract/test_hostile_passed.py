"""The texts of the corpus pass through each verb, each output and each SQL text of the jobs, or this fails.

`tests/hostile/passed.json` says what they have passed through. It is compared with the code here, and with a run of all
verbs in tests/spark/test_hostile_verbs.py: so no entry is true because somebody has written it.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.core.options.option import DOCTOR, VERBS
from spark_jobs.core.values import ddl
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from tests.hostile.corpus import TEXTS, name_of
from tests.hostile.sites import PRODUCT, sites, sites_in

ROOT = Path(__file__).parents[2]
PASSED = json.loads((ROOT / "tests" / "hostile" / "passed.json").read_text())
#: The same of tables of other formats, which tests/native runs. `names` are places where only names of tables come, and
#: of runs, which have no other characters than letters, digits, `_` and `-`.
NATIVE = json.loads((ROOT / "tests" / "hostile" / "passed_native.json").read_text())
#: No text is in a field of these types.
_NUMBERS = {"int", "float", "bool", "int | None", "float | None", "bool | None"}


def test_each_verb_has_had_the_texts():
    assert sorted((*VERBS, DOCTOR)) == PASSED["verbs"]


def test_each_place_where_a_text_leaves_the_code_has_had_the_texts():
    code = {site.name for site in sites()}
    passed = {*PASSED["sites"], *NATIVE["iceberg"], *NATIVE["paimon"], *NATIVE["names"]}
    assert sorted(code - passed) == []
    assert sorted(passed - code) == []


@pytest.mark.parametrize(("kind", "made"), [("report", Report), ("table", TableReport), ("unit", UnitReport)])
def test_each_field_of_a_report_has_had_the_texts(kind: str, made: Any):
    with_texts = {field.name for field in fields(made) if field.type not in _NUMBERS}
    assert with_texts
    assert with_texts <= {*PASSED[kind], *(NATIVE["table"] if kind == "table" else ())}


def test_all_lines_of_the_log_are_made_printable_in_one_place():
    loggers = {
        ast.unparse(node)
        for path in PRODUCT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("logging.getLogger", "logging.Logger")
    }
    assert loggers == {"logging.getLogger('lakekeeper')"}


@pytest.mark.parametrize(
    "code",
    [
        "session.sql(f'DROP TABLE {name}')",
        "session.sql(text)",
        "frame.where(condition)",
        "clause = f'COMMENT {text} LOCATION {place}'",
        "self._fs.create(path, data)",
        "frame.write.format('csv').save(path)",
        "print(text, file=sys.stderr)",
        "sys.stdout.write(text)",
    ],
)
def test_a_new_place_is_found(tmp_path: Path, code: str):
    """So a new statement, file or line has no entry, and the test above fails."""
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "new.py").write_text(code)
    (found,) = sites_in(tmp_path / "adapters" / "new.py", tmp_path)
    assert found.name not in PASSED["sites"]


#: The functions that return a statement for a person, by name.
STATEMENTS = {
    node.name: getattr(ddl, node.name)
    for node in ast.parse(Path(ddl.__file__).read_text()).body
    if isinstance(node, ast.FunctionDef)
    and node.name != "_statement"
    and any(ast.unparse(each).startswith("_statement(") for each in ast.walk(node))
}
#: What is left of a statement without its literals and names.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`")
_WORDS = re.compile(r"[A-Z ]+ TABLE \w*\.[\w .,()=]*(\(before it, SET [\w.=]+, or in Spark SET [\w.=]+\))?")


@pytest.mark.parametrize("text", TEXTS, ids=name_of)
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_text_is_a_literal_or_a_name_in_each_statement_of_a_message(name: str, text: str):
    parameters = list(inspect.signature(STATEMENTS[name]).parameters)
    for chosen in parameters:
        # One at a time: a statement with a name that ends it is not shown at all.
        for value in _values(chosen, text):
            plain = {each: _values(each, "x")[0] for each in parameters}
            shown = STATEMENTS[name](**{**plain, chosen: value})
            assert "\n" not in shown
            assert shown.startswith("(no statement is shown") or _WORDS.fullmatch(_QUOTED.sub("", shown)), (
                shown
            )


def _values(parameter: str, text: str) -> list[Any]:
    """Return what a parameter of a statement may be that has this text in it."""
    of = {"table": [f"db.{text}"], "spec": [(("p", text),), ((text, "1"),)]}
    return of.get(parameter, [text])
