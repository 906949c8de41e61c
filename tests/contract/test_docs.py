"""README and documentation cannot lie: links lead somewhere, and each block is what would read it takes."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import textwrap
from pathlib import Path

import pytest

from demo import drawings, screenshot
from lakekeeper_provider.options import config
from lakekeeper_provider.shell.parsers import build_parser
from spark_jobs.core.options.arguments import parse
from tests.contract.doc_blocks import PAGES, ROOT, Block, blocks

#: What blocks may run besides our own programs, and the first words of it that are known.
KNOWN = {
    "airflow": ("providers list",),
    "hdfs": ("dfs -ls", "dfs -cat", "dfs -mkdir", "dfs -mv", "dfs -rm", "dfs -put", "dfs -test"),
    "make": (),
    "pip": ("install",),
    "pyarrow-env/bin/pip": ("install",),
    "pyarrow-env/bin/venv-pack": ("-p",),
    "python3.11": ("-m venv",),
    "spark-sql": ("-e",),
    "spark3-submit": ("--version",),
    "spark-submit": ("--version", "--py-files"),
}
DRAWINGS = sorted([*drawings.TEXTS.glob("*.txt"), *drawings.TEXTS.glob("*.mmd")])
_LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
_ASSIGNED = re.compile(r"[A-Z_]+=.*", re.DOTALL)
_HEADING = re.compile(r"#+ (.*)")


def _ids(found: list[Block]) -> list[str]:
    return [str(block) for block in found]


def _all(language: str) -> pytest.MarkDecorator:
    found = [block for block in blocks(language) if block.parsed]
    return pytest.mark.parametrize("block", found, ids=_ids(found))


def _anchors(page: Path) -> set[str]:
    """What a heading is called in a link, as mkdocs and code hosts do it."""
    code, found = False, set()
    for line in page.read_text().splitlines():
        code ^= line.lstrip().startswith("```")
        heading = None if code else _HEADING.fullmatch(line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            found.add(re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_each_link_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    links = [first or second for first, second in _LINK.findall(page.read_text())]
    for link in links:
        if not link.startswith(("http://", "https://", "mailto:")):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), link
            assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_link_that_has_the_name_of_a_page_leads_to_that_page(page: Path) -> None:
    for text, target in re.findall(r"\[([\w/.-]+\.md)\]\(([^)#\s]+)", page.read_text()):
        assert target.endswith(text), (text, target)


def test_each_block_says_what_it_is() -> None:
    languages = {"ini", "json", "python", "sh", "sql", "text", "yaml"}
    assert [str(block) for block in blocks() if block.language not in languages] == []


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_no_code_stands_outside_of_the_blocks_that_are_read(page: Path) -> None:
    text = page.read_text()
    fences = [line for line in text.splitlines() if line.lstrip().startswith(("```", "~~~"))]
    assert len(fences) == 2 * sum(block.page == str(page.relative_to(ROOT)) for block in blocks())
    outside = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(rf"^ {{4,}}(?:lakekeeper|{'|'.join(KNOWN)}) .*", outside, re.MULTILINE) == []
    assert "$(lakekeeper" not in text


@_all("python")
def test_python_blocks_compile(block: Block) -> None:
    compile(textwrap.dedent(block.text), str(block), "exec")


@_all("json")
def test_json_blocks_are_json(block: Block) -> None:
    json.loads(block.text)


@_all("ini")
def test_ini_blocks_are_sections_of_a_configuration(block: Block) -> None:
    parser = configparser.ConfigParser()
    parser.read_string(block.text)
    assert parser.sections()


@_all("yaml")
def test_yaml_blocks_are_taken_by_the_configuration_file(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "lakekeeper.yaml"
    file.write_text(block.text)
    config.load(str(file))


@_all("sh")
def test_commands_are_known_and_ours_are_taken_by_their_parsers(block: Block) -> None:
    for words in block.commands():
        while words and _ASSIGNED.fullmatch(words[0]):
            words = words[1:]
        if words[:1] == ["lakekeeper"]:
            build_parser().parse_args(words[1:])
        elif "--py-files" in words and any(word.endswith("run_lakekeeper.py") for word in words):
            at = next(at for at, word in enumerate(words) if word.endswith("run_lakekeeper.py"))
            parse(words[at + 1], words[at + 2 :], "")
        elif words:
            rest = f"{' '.join(words[1:])} "
            assert words[0] in KNOWN, words
            assert not KNOWN[words[0]] or any(rest.startswith(f"{first} ") for first in KNOWN[words[0]]), (
                words
            )


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_commands_in_a_sentence_that_name_a_table_are_taken_too(page: Path) -> None:
    named = re.compile(
        r"(?<!`)`(lakekeeper [a-z-]+ [^`]*--(?:table|tables|database|location) [^-`][^`]*)`(?!`)"
    )
    for code in named.findall(page.read_text()):
        if "..." not in code:
            build_parser().parse_args(shlex.split(" ".join(code.split()))[1:])


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_commands_in_a_sentence_have_verbs_and_options_that_exist(page: Path) -> None:
    (verbs,) = (action.choices for action in build_parser()._actions if isinstance(action.choices, dict))
    for code in re.findall(r"(?<!`)`lakekeeper ([^`]+)`(?!`)", page.read_text()):
        first, *rest = code.split()
        assert first.startswith("-") or first in verbs or first.isupper(), code
        options = {word for word in rest if re.fullmatch(r"--[a-z-]+", word)}
        assert options <= set(verbs[first]._option_string_actions if first in verbs else options), code


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {words[1] for block in blocks("sh") for words in block.commands() if words[0] == "make"}
    named |= {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)[ `]", page.read_text())}
    assert named <= targets


def test_each_known_command_is_used() -> None:
    lines = [" ".join(words) for block in blocks("sh") if block.parsed for words in block.commands()]
    known = {f"{program} {first}".strip() for program, firsts in KNOWN.items() for first in firsts or ("",)}
    assert {each for each in known if not any(each in line for line in lines)} == set()


@pytest.mark.parametrize("text", DRAWINGS, ids=[text.stem for text in DRAWINGS])
def test_a_drawing_is_that_of_its_text(text: Path) -> None:
    picture = drawings.PICTURES / f"{text.stem}.svg"
    assert drawings.stamp(text.read_text()) in picture.read_text(), "`make drawings` draws it again"


def test_a_drawing_shows_itself_where_no_page_styles_it() -> None:
    """On a package index and a dark page there is nothing but the file."""
    for text in DRAWINGS:
        picture = (drawings.PICTURES / f"{text.stem}.svg").read_text()
        assert "<foreignObject" not in picture
        assert f'fill="{drawings.GROUND}"' in picture


@pytest.mark.parametrize("shot", screenshot.SCREENSHOTS, ids=[shot.name for shot in screenshot.SCREENSHOTS])
def test_a_screenshot_shows_what_its_sources_say_now(shot: screenshot.Screenshot) -> None:
    stamps = json.loads(screenshot.STAMPS.read_text())
    assert stamps[shot.name] == shot.stamp(), "`make screenshots` takes it again"


def test_each_picture_is_made_by_a_command_and_shown_on_a_page() -> None:
    made = {f"{text.stem}.svg" for text in DRAWINGS} | {shot.name for shot in screenshot.SCREENSHOTS}
    pictures = {file.name for file in drawings.PICTURES.iterdir() if file.suffix in (".svg", ".png")}
    shown = {name for page in PAGES for name in pictures if name in page.read_text()}
    assert pictures == shown == made | {"benchmarks.png"}
