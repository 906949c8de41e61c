"""Each mutation finds its guard, also after the product was renamed, formatted and moved; or says what is lost."""

from __future__ import annotations

import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

from demo.services import paths
from tests.mutation.guards import PRODUCTS, GuardNotFound, Sources, all_marks, sources
from tests.mutation.hazards import MUTATIONS
from tests.mutation.mutation import Mutation

_FUTURE = "from __future__ import annotations\n"
_ALL = [pytest.param(each, id=each.id) for each in MUTATIONS]


@cache
def _original() -> Sources:
    return Sources(paths.ROOT)


@pytest.mark.parametrize("mutation", _ALL)
def test_a_mutation_finds_its_guards(mutation: Mutation) -> None:
    mutation.texts(_original())


@pytest.mark.parametrize("mutation", _ALL)
def test_a_mutation_finds_its_tests(mutation: Mutation) -> None:
    for test in mutation.tests:
        path, *names = test.split("[")[0].split("::")
        assert "::".join(names) in _tests(path), f"mutation {mutation.id}: there is no {test} (any more)"


@cache
def _tests(path: str) -> set[str]:
    """The functions of a module, and the methods of its classes."""
    found: set[str] = set()
    for node in ast.parse((paths.ROOT / path).read_text()).body:
        name = getattr(node, "name", "")
        inner = node.body if isinstance(node, ast.ClassDef) else []
        found |= {name, *(f"{name}::{getattr(each, 'name', '')}" for each in inner)}
    return found


def test_each_mark_is_there_once_and_has_a_mutation() -> None:
    used = {edit.guard for mutation in MUTATIONS for edit in mutation.edits}
    assert Counter(all_marks(paths.ROOT)) == Counter(used)


def test_a_mark_is_the_name_of_nothing_else() -> None:
    """Else a rename of that would change the mark."""
    product = sources(paths.ROOT).values()
    words = {word for source in product for word in re.findall(r"\w+", re.sub(r"# guard:.*", "", source))}
    assert not words.intersection(all_marks(paths.ROOT))


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """The jobs in a copy of both packages; `_lost` takes the folder that they are in."""
    jobs, _ = (Path(shutil.copytree(paths.ROOT / name, tmp_path / name)) for name in PRODUCTS)
    return jobs


def _lost(product: Path) -> dict[str, str]:
    """The mutations that do not find their guards, and what they say."""
    found, read = {}, Sources(product.parent)
    for mutation in MUTATIONS:
        try:
            mutation.check(read)
        except GuardNotFound as error:
            found[mutation.id] = str(error)
    return found


def _change(product: Path, change: Callable[[str], str]) -> None:
    """All modules; some must be others then."""
    before = sources(product.parent)
    for path, source in before.items():
        text = change(source)
        ast.parse(text)
        (product.parent / path).write_text(text)
    assert sources(product.parent) != before


def test_a_rename_loses_no_mutation(product: Path) -> None:
    functions = "_check_unchanged|still_registered|take_over|list_unit|move_late_files|move|open_files"
    classes = "ForwardSwap|ReverseSwap|SwapPaths|SwapPolicy|LeaseSet"
    variables = "paths|lost|swap|opened|leases|entry|found"
    wanted = re.compile(rf"\b({functions}|{classes}|{variables})\b")
    _change(product, lambda text: wanted.sub(r"\1_anew", text))
    assert _lost(product) == {}


@pytest.mark.full
def test_of_all_functions_renamed_few_are_missed_and_each_by_name(product: Path) -> None:
    modules = [ast.parse(source) for source in sources(product.parent).values()]
    nodes = [node for module in modules for node in ast.walk(module)]
    names = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    ours = {name for name in names if not name.startswith("__")} - set(dir(str) + dir(dict) + dir(list))
    _change(product, lambda text: _with_new_names(text, ours))
    lost = _lost(product)
    assert len(lost) < len(MUTATIONS) / 8, lost
    for name, message in lost.items():
        assert re.match(
            rf"mutation {name}: ({'|'.join(PRODUCTS)})/\S+:\d+, in [\w.]+, marked `# guard: \w+`: ", message
        )
        assert re.search(r"\nThe mutation names .* \(any more\)\.\n|\nLooked for: ", message), message


def _with_new_names(text: str, names: Iterable[str]) -> str:
    """Of comments and plain strings, nothing: there the same word is another thing. All else stays where it is."""
    wanted = re.compile(rf"\b({'|'.join(names)})\b")
    lines = text.splitlines(keepends=True)
    starts = list(accumulate(map(len, lines), initial=0))
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if _is_code(token):
            begin, end = (starts[line - 1] + column for line, column in (token.start, token.end))
            text = text[:begin] + wanted.sub(r"\1_anew", token.string) + text[end:]
    return text


def _is_code(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.NAME or (
        token.type == tokenize.STRING and token.string.startswith(("f", "rf"))
    )


def test_another_indentation_loses_no_mutation(product: Path) -> None:
    _change(product, _indented)
    assert _lost(product) == {}


def _indented(text: str) -> str:
    head, future, rest = text.partition(_FUTURE)
    return f"{head}{future}if True:\n    pass\n{re.sub('(?m)^(?=.)', '    ', rest)}" if future else text


@pytest.mark.full
def test_another_formatting_loses_no_mutation(product: Path) -> None:
    before = sources(product.parent)
    ruff = paths.env_dir("dev") / "bin" / "ruff"
    subprocess.run(
        [ruff, "format", "--quiet", "--isolated", "--line-length", "50", product.parent], check=True
    )
    assert sources(product.parent) != before
    assert _lost(product) == {}


@pytest.mark.full
def test_one_module_of_several_loses_no_mutation(product: Path) -> None:
    (folder,) = {
        file.parent for file in product.rglob("*.py") if "nothing_between_renames" in file.read_text()
    }
    text = "".join(file.read_text() for file in sorted(folder.glob("*.py")))
    shutil.rmtree(folder)
    (product / "exchange.py").write_text(_FUTURE + text.replace(_FUTURE, ""))
    assert _lost(product) == {}


def test_a_guard_that_is_gone_is_named(product: Path) -> None:
    _change(product, lambda text: text.replace("  # guard: lease_held_on_open", ""))
    (message,) = _lost(product).values()
    assert message.startswith(
        "mutation H19-open: no statement of spark_jobs or lakekeeper_provider is marked `# guard: lease_held_on_open`"
    )
    assert "(but lease_held_on_enter)" in message
    assert message.endswith("Edit tests/mutation/hazards_jobs.py.")
