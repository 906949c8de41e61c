"""The page of what was tried on a cluster: the words of the tests, and none that they no longer say."""

from __future__ import annotations

import shutil

import pytest

from demo.services import paths
from tests.cluster import tried

SOURCE = '''"""Quotas: looked at before anything is written.

What a directory
may hold.
"""

import pytest

LIMITS = [pytest.param(1, id="names"), pytest.param(2, id="space")]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("who", ["etl", "hdfs"])
def test_somebody_s_hdfs_quota_doesn_t_end_a_run(limit, who):
    """It is a | refusal
    with a code.

    Not this.
    """


class TestMore:
    @pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 4)], ids=["one acl", "two"])
    def test_of_a_class(self, a, b): ...

    @pytest.mark.parametrize("number", [1, 2])
    def test_of_numbers(self, number): ...

    def helper_test_not(self): ...
'''


@pytest.fixture
def section():
    return tried.read_module(SOURCE, "tests/cluster/test_quotas.py")


def test_the_page_is_what_the_tests_say():
    assert (paths.ROOT / tried.PAGE).read_text() == tried.page(paths.ROOT), (
        f"{tried.PAGE} is not what the tests on a cluster say: run `{tried.COMMAND}`, and commit it"
    )


def test_a_module_says_what_it_is_about(section):
    assert section.heading == "Quotas: looked at before anything is written"
    assert section.intro == "What a directory may hold."


def test_names_are_read_as_sentences(section):
    phrases = [each.phrase for each in section.tried]

    assert phrases == ["somebody's HDFS quota doesn't end a run", "of a class", "of numbers"]


def test_cases_are_named_where_they_have_names(section):
    assert [each.cases for each in section.tried] == [
        ("names", "space", "etl", "hdfs"),
        ("one acl", "two"),
        (),
    ]


def test_a_test_s_first_lines_stand_beside_it(section):
    assert [each.more for each in section.tried] == ["It is a | refusal with a code.", "", ""]


@pytest.fixture
def elsewhere(tmp_path):
    """A checkout with one module of tests, and none that asks for tickets."""
    for needed in ("tests/cluster/maven", "demo/services/lock_files"):
        shutil.copytree(paths.ROOT / needed, tmp_path / needed)
    (tmp_path / "tests/cluster/test_quotas.py").write_text(SOURCE)
    return tmp_path


def test_a_table_keeps_its_columns(elsewhere):
    rows = [line for line in tried.page(elsewhere).splitlines() if "HDFS quota" in line]

    assert rows == [
        "| Somebody's HDFS quota doesn't end a run | names; space; etl; hdfs | It is a \\| refusal with a code. |"
    ]


def test_a_folder_that_is_not_there_is_not_spoken_of(elsewhere):
    without = tried.page(elsewhere)
    (elsewhere / "tests/kerberos").mkdir()
    (elsewhere / "tests/kerberos/test_keytab.py").write_text("def test_a_keytab(): ...")

    assert "Kerberos" not in without
    assert "### Keytab" in tried.page(elsewhere)
    assert "Kerberos realm" in tried.page(elsewhere)


@pytest.mark.parametrize(("server", "release"), [("hadoop", "9.8.7"), ("hive", "6.5.4")])
def test_the_releases_are_those_of_the_poms(elsewhere, server, release):
    pom = elsewhere / "tests/cluster/maven" / server / "pom.xml"
    pom.write_text(pom.read_text().replace(tried.version(elsewhere, server), release))

    assert f"{release}" in tried.page(elsewhere).partition("## ")[0]
