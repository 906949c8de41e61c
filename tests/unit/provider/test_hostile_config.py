"""Mistakes in a YAML file that has secrets: the message names the place and the way out, and no secret."""

from __future__ import annotations

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.shell import cli
from tests.hostile.corpus import SECRETS, TEXTS, name_of
from tests.hostile.search import UNSEEN, Search

SECRET, KEYTAB = SECRETS["YAML file"], SECRETS["keytab"]
#: A file with a mistake at the secret, and what the message names.
MISTAKES = {
    f"spark_submit: {{keytab: [{KEYTAB}]}}": "spark_submit.keytab",
    f"spark_submit: {{principal: {{a: {SECRET}}}}}": "spark_submit.principal",
    f"spark_submit: {{extra_conf: {{spark.secret: [{SECRET}]}}}}": "spark_submit.extra_conf.spark.secret",
    f"spark_submit: {{extra_conf: 'spark.x={SECRET}'}}": "spark_submit.extra_conf",
    f"spark_submit: {{extra_conf: [spark.x={SECRET}]}}": "spark_submit.extra_conf",
    f"spark_submit: {{pass_environment: ['AWS={SECRET}']}}": "spark_submit.pass_environment",
    f"spark_submit: {{py_files: {{a: {SECRET}}}}}": "spark_submit.py_files",
    f"spark_submit: {{extra_files: 'https://etl:{SECRET}@h/x,,'}}": "spark_submit.extra_files",
    f"spark_submit: {{report_dir: ['https://etl:{SECRET}@h/x']}}": "spark_submit.report_dir",
    f"spark_submit: spark.x={SECRET}": "spark_submit",
    f"spark_submit: [spark.x={SECRET}]": "spark_submit",
    f"{SECRET}": "the file",
    f"[{SECRET}]": "the file",
    f"spark_submit:\n  extra_conf:\n    spark.secret: {SECRET}: x\n": "line 3",
    f"spark_submit:\n  extra_conf:\n    spark.secret: \"{SECRET}\n  x: 'y\n": "line 3",
    f"spark_submit: {{extra_conf: {{spark.secret: *{SECRET}}}}}": "line 1",
    f"spark_submit: {{extra_conf: {{spark.secret: !{SECRET} x}}}}": "line 1",
    f"spark_submit: {{extra_conf: {{spark.secret: &{SECRET} x, y: &{SECRET} z}}, b: ]": "line 1",
    f"spark_submit: {{extra_conf: {{spark.secret: @{SECRET}}}}}": "line 1",
    f"%{SECRET} 1\n%{SECRET}\n---\nx: y\n%YAML {SECRET}\n---\n": "line",
}


@pytest.mark.parametrize("text", MISTAKES, ids=name_of)
def test_a_message_about_a_file_names_the_place_and_no_secret(tmp_path, text, capsys):
    path = tmp_path / "lakekeeper.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        config.load(path)
    assert cli.main(["analyze", "--table", "a.b", "-c", str(path)]) == 2
    search = Search()
    search.text("message", text, f"{error.value} {error.value.__cause__} {capsys.readouterr()}")
    assert search.found == [], str(error.value)
    assert MISTAKES[text] in str(error.value)


#: Where a file has texts: names of its keys, and values.
PLACES = [
    lambda text: {text: 1},
    lambda text: {"tables": {text: {"min_input_files": 1}}},
    lambda text: {"tables": {"a.b": {text: 1}}},
    lambda text: {"tables": text},
    lambda text: {"windows": {text: text}},
    lambda text: {"sort_columns": {text: 1}},
    lambda text: {"order": text},
    lambda text: {"block_size_mb": text},
    lambda text: {"hive_server": text},
    lambda text: {"spark_submit": {text: 1}},
    lambda text: {"spark_submit": {"deploy_mode": text}},
    lambda text: {"spark_submit": {"extra_conf": {text: [text]}}},
]


@pytest.mark.parametrize("place", PLACES)
def test_a_message_about_a_text_of_a_file_is_one_line(place):
    messages = []
    for text in TEXTS:
        try:
            config.parse(place(text))
        except UsageError as error:
            messages.append(str(error))
    assert len(messages) > len(TEXTS) / 2
    assert [found for found in messages if UNSEEN.search(found) or len(found.splitlines()) > 1] == []
