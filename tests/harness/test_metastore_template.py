"""The template of a metastore's database: whole or not there, and never over a database that exists."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from demo.services import metastore_template
from demo.services.metastore_template import copy_to

MAKE = "from pathlib import Path; Path('derby').mkdir(); Path('derby/made').touch()"


@pytest.fixture
def templates(tmp_path, monkeypatch):
    monkeypatch.setattr(metastore_template, "TEMPLATES", tmp_path / "templates")
    return tmp_path / "templates"


def _python(script):
    return lambda _: [sys.executable, "-c", script]


def test_two_starts_at_once_make_one_template(templates, tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda folder: copy_to(folder, tmp_path, {}, _python(MAKE)), folders))

    assert all((folder / "derby" / "made").exists() for folder in folders)
    assert len(list(templates.iterdir())) == 1


def test_other_settings_have_a_template_of_their_own(templates, tmp_path):
    for number in range(2):
        (tmp_path / f"{number}").mkdir()
        copy_to(
            tmp_path / f"{number}", tmp_path, {"datanucleus.identifierFactory": f"{number}"}, _python(MAKE)
        )
    assert len(list(templates.iterdir())) == 2


def test_a_database_that_exists_stays(templates, tmp_path):
    (tmp_path / "derby").mkdir()
    copy_to(tmp_path, tmp_path, {}, _python(MAKE))
    assert not list((tmp_path / "derby").iterdir())


def test_what_was_not_made_whole_is_no_template(templates, tmp_path):
    with pytest.raises(RuntimeError, match=r"output\.txt"):
        copy_to(tmp_path, tmp_path, {}, _python(f"{MAKE}; raise SystemExit(1)"))
    copy_to(tmp_path, tmp_path, {}, _python(MAKE))
    assert (tmp_path / "derby" / "made").exists()
