"""Command lines and files of Lakekeeper 0.0.6, and of Beekeeper before it, mean here what they meant there.

The facts are those of its `--help`, its template and its README. What differs on purpose is in docs/other-designs.md.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options import config
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.shell import parsers, spark_command

KNOWN = json.loads((Path(__file__).parent / "golden" / "lakekeeper_0.0.6.json").read_text())


def _flags(argv, settings):
    return spark_command.job_flags(parsers.build_parser().parse_args(argv), settings)


@pytest.mark.parametrize("line", KNOWN["lines"], ids=lambda line: " ".join(line["argv"]))
def test_a_command_line(line, capsys):
    if "flags" in line:
        assert _flags(line["argv"], Config()) == line["flags"]
        return
    with pytest.raises((UsageError, SystemExit)) as stop:
        _flags(line["argv"], Config())
    assert line["error"] in f"{stop.value} {capsys.readouterr().err}"


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_configuration_file_may_stand_before_or_after_the_verb(place):
    option, verb = ["--config-file", "lakekeeper.yaml"], ["compact", "-t", "mydb.events"]
    argv = [*option, *verb] if place == "before" else [*verb, *option]
    assert parsers.build_parser().parse_args(argv).config_file == "lakekeeper.yaml"


@pytest.mark.parametrize("file", KNOWN["files"], ids=lambda file: ", ".join(file["content"]))
def test_a_configuration_file(file):
    found = config.parse(file["content"])
    assert found.settings == file["settings"]
    if "flags" in file:
        assert _flags(["compact"], found) == file["flags"]


def test_the_section_for_spark_submit_becomes_the_same_words(tmp_path, caplog):
    known = KNOWN["spark_submit"]
    found = config.parse({"spark_submit": known["content"]})
    arguments = parsers.build_parser().parse_args(["compact", "-t", "mydb.events"])
    command = spark_command.build_command(arguments, found, tmp_path)
    pairs = list(pairwise(command))
    assert command[0] == known["words"][0]
    for flag, value in known["words"][1:]:
        assert (flag, value) in pairs
    for name, value in known["conf"].items():
        assert ("--conf", f"{name}={value}") in pairs or (
            name == "spark.yarn.queue" and ("--queue", value) in pairs
        )
    assert "/opt/mypackage.whl" in command[command.index("--py-files") + 1]
    # Its own program takes neither lease nor journal.
    assert not any("run_lakekeeper" in word for word in command)
    assert "run_lakekeeper.py is ignored, and the jobs of this package are submitted" in caplog.text


def test_an_unknown_key_is_an_error_and_no_longer_ignored():
    with pytest.raises(UsageError, match="unknown key block_size \\(did you mean 'block_size_mb'\\?\\)"):
        config.parse({"block_size": 128})
