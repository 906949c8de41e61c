"""The generated page."""

from __future__ import annotations

from benchmarks import page
from benchmarks.cases import CASES
from benchmarks.publish import panels
from tests.harness.benchmarks.sample import result, results


def _page(**found):
    return page.render({name.replace("_", "-"): each for name, each in found.items()}, CASES.values())


def test_each_program_has_its_median_with_the_least_and_the_greatest():
    text = _page(demo=results("demo", ours=[10.0, 12.0, 11.0], lakekeeper=[20.0, 22.0, 24.0]))

    assert (
        "| this project | 3 | 11.0 (10.0 to 12.0) | 22.0 (20.0 to 24.0) | 1,002 (1,001 to 1,003) | 60 (60 to 60) |"
    ) in text
    assert "| Lakekeeper | 3 | 22.0 (20.0 to 24.0) |" in text
    assert "| this project / Lakekeeper | 0.50 | 0.50 (0.46 to 0.55) | 0.50 |" in text


def test_a_target_says_whether_it_is_held():
    text = _page(demo=results("demo", ours=[20.0], lakekeeper=[22.0]))

    assert (
        "| demo tables: times Lakekeeper | 0.91 x | <= 0.8 x | <= 0.6 x | **must missed by 0.11 x** |" in text
    )
    assert "| 65,000 files: times plain Spark |  | <= 1.25 x | <= 1.1 x | not measured |" in text


def test_a_case_without_results_has_no_section():
    text = _page(demo=results("demo", ours=[20.0], bare=[10.0]))

    assert f"## {CASES['demo'].title}" in text
    assert f"## {CASES['files-65000'].title}" not in text
    assert "## HDFS: fixed cost and slope" not in text


def test_the_phases_of_the_reports_are_shown_where_there_are_any():
    found = results("demo", bare=[10.0])
    found.results += [
        result("ours", number, 20.0, phases={"start": 5.0 + number, "write": 9.0}) for number in (1, 2, 3)
    ]

    text = page.section(CASES["demo"], found)

    assert (
        "| seconds of each phase | start | list | footers | read | write | verify | swap | register | log |"
        in text
    )
    assert "| this project | 7.0 |  |  |  | 9.0 |  |  |  |  |" in text
    assert "seconds of each phase" not in page.section(CASES["demo"], results("demo", ours=[20.0]))


def test_other_figures_are_shown_as_medians():
    found = results("query")
    found.results = [
        result("before", n, 60.0, files=65_000, planning=seconds) for n, seconds in ((1, 3.0), (2, 2.0))
    ]

    text = page.section(CASES["query"], found)

    assert "| before | files | 65,000 |" in text
    assert "| before | planning | 2.50 (2.00 to 3.00) |" in text


def test_jobs_are_shown_without_the_start_of_spark():
    text = page.section(
        CASES["analysis-10000"], results("analysis-10000", start=[6.0, 8.0], cold=[40.0, 50.0])
    )

    assert "| cold | 38.0 |" in text
    assert "beyond Spark's start" not in page.section(CASES["demo"], results("demo", ours=[20.0]))


def test_a_busy_machine_is_mentioned():
    quiet, disturbed = results("demo", ours=[10.0]), results("demo", ours=[10.0])
    (one,) = disturbed.results
    object.__setattr__(one.measured, "others", 10.0)

    assert "Other programs" not in page.section(CASES["demo"], quiet)
    assert "took 50% of the processors" in page.section(CASES["demo"], disturbed)
    assert "prove nothing: demo.**" in page.targets({"demo": disturbed, "query": quiet})
    assert "prove nothing" not in page.targets({"demo": quiet})


def test_a_missed_goal_is_explained_and_a_held_one_is_not():
    slow = {"files-65000": results("files-65000", ours=[130.0], bare=[100.0])}
    fast = {"files-65000": results("files-65000", ours=[110.0], bare=[100.0])}

    assert "- **65,000 files: times plain Spark.** The footers" in page.targets(slow)
    assert "Why a goal is missed" not in page.targets(fast)


def test_results_of_two_commits_are_told_apart():
    demo, query = results("demo", ours=[1.0]), results("query", before=[1.0])
    query.context["commit"] = "def5678"

    text = page.render({"demo": demo, "query": query}, CASES.values())

    assert "commit abc1234, date 2026-02-24 (demo)" in text
    assert "commit def5678, date 2026-02-24 (query)" in text


def test_the_chart_shows_cases_with_something_to_compare():
    found = {"demo": results("demo", ours=[10.0, 12.0], bare=[5.0]), "query": results("query", before=[1.0])}

    assert panels(found) == [
        {
            "title": CASES["demo"].title,
            "bars": [["this project", 11.0, 10.0, 12.0], ["plain Spark", 5.0, 5.0, 5.0]],
        }
    ]


def test_the_chart_shows_the_engine_arrow():
    steps = {"ours": [4.0], "arrow": [2.0], "arrow-analysed": [1.0], "bare": [3.0]}
    found = {"partitions-200": results("partitions-200", **steps)}

    (panel,) = panels(found)

    assert [bar[1] for bar in panel["bars"]] == [4.0, 2.0, 1.0, 3.0]
