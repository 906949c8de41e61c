"""Write docs/safety/tried-on-a-cluster.md: what the tests on a cluster try, in the words of their own names.

    python3 -m tests.cluster.tried

Nothing is imported or run for it: the tests' sources are read.
"""

from __future__ import annotations

import argparse
import ast
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths

PAGE = Path("docs/safety/tried-on-a-cluster.md")
COMMAND = "make tried"
#: A folder's tests, and what they have in common. A folder that is not there has none.
FOLDERS = {"tests/cluster": "with simple authentication", "tests/kerberos": "with Kerberos"}
_SERVERS = {"hadoop": "HDFS and YARN of Apache Hadoop {}", "hive": "the Hive Metastore {}"}
#: As they are written in a sentence; in a function's name there are no capitals.
_SPELLED = (
    "ACL ACLs Airflow Avro CDP DAG HDFS Hadoop Hive Impala JSON Kerberos MSCK NameNode ORC Parquet Ranger Spark"
    " SPNEGO WebHDFS XCom YAML YARN"
)
_WORDS = {word.lower(): word for word in _SPELLED.split()}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Tried:
    """One test: what it tries, in which cases (none: there is but one), and more of it where it says more."""

    phrase: str
    cases: tuple[str, ...] = ()
    more: str = ""


@dataclass(frozen=True)
class Section:
    """One module of tests."""

    path: str
    heading: str
    intro: str
    tried: tuple[Tried, ...]


def page(root: Path) -> str:
    """The whole file, from the sources below `root`."""
    found = {folder: list(sections(root, folder)) for folder in FOLDERS}
    blocks = [_head(root, found)]
    for folder, meaning in FOLDERS.items():
        if found[folder]:
            blocks += [f"## `{folder}`: {meaning}", *(_render(section) for section in found[folder])]
    return "\n\n".join(blocks) + "\n"


def sections(root: Path, folder: str) -> Iterator[Section]:
    """The modules of a folder, by name; one without tests is no section."""
    for file in sorted((root / folder).glob("test_*.py")):
        section = read_module(file.read_text(encoding="utf-8"), f"{folder}/{file.name}")
        if section.tried:
            yield section


def read_module(source: str, path: str) -> Section:
    tree = ast.parse(source, path)
    first, _, rest = (ast.get_docstring(tree) or phrase(Path(path).stem)).partition("\n")
    constants = _constants(tree)
    tests = tuple(_tried(test, constants) for test in _tests(tree.body))
    return Section(path, _sentence(first).rstrip("."), _one_line(rest), tests)


def phrase(name: str) -> str:
    """A test's name as a person writes it, who has capitals and apostrophes: `somebody_s_acl` is somebody's ACL."""
    words = [_WORDS.get(word, word) for word in name.removeprefix("test_").split("_") if word]
    return re.sub(r"(?<=\w) (s|t)\b", r"'\1", " ".join(words))


def _tests(body: Sequence[ast.stmt]) -> Iterator[Function]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _tests(statement.body)
        elif isinstance(statement, Function) and statement.name.startswith("test_"):
            yield statement


def _tried(test: Function, constants: dict[str, ast.expr]) -> Tried:
    cases = [case for call in test.decorator_list for case in _cases(call, constants)]
    first = (ast.get_docstring(test) or "").partition("\n\n")[0]
    return Tried(phrase(test.name), tuple(dict.fromkeys(cases)), _one_line(first))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What a parametrize may name instead of spelling it out."""
    found: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            found |= {name.id: statement.value for name in statement.targets if isinstance(name, ast.Name)}
        elif (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.value
        ):
            found[statement.target.id] = statement.value
    return found


def _cases(decorator: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    """The names of the cases of a `parametrize`: its `ids`, those of each `param`, or values that are names."""
    if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize")):
        return []
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    given |= dict(zip(("argnames", "argvalues"), decorator.args, strict=False))
    values = given.get("ids") or given.get("argvalues")
    return [case for item in _items(values, constants) for case in _case(item)]


def _items(value: ast.expr | None, constants: dict[str, ast.expr]) -> Sequence[ast.expr | None]:
    if isinstance(value, ast.Name):
        value = constants.get(value.id)
    if isinstance(value, ast.Dict):
        return value.keys
    return value.elts if isinstance(value, (ast.List, ast.Tuple, ast.Set)) else []


def _case(item: ast.expr | None) -> list[str]:
    if isinstance(item, ast.Call):  # pytest.param
        return [case for keyword in item.keywords if keyword.arg == "id" for case in _case(keyword.value)]
    return [item.value] if isinstance(item, ast.Constant) and isinstance(item.value, str) else []


def _head(root: Path, found: dict[str, list[Section]]) -> str:
    tests = [tried for each in found.values() for section in each for tried in section.tried]
    servers = " and ".join(text.format(version(root, name)) for name, text in _SERVERS.items())
    kerberos = ", with tickets of its own MIT Kerberos realm" if found["tests/kerberos"] else ""
    return "\n\n".join(
        [
            "# Tried on a cluster",
            f"<!-- Written by `{COMMAND}` from the names of the tests: do not edit. -->",
            f"What {len(tests)} tests try on real servers, by the names of the tests. The cluster is {servers}, each in"
            f" a process of its own with the libraries of its release, on one machine{kerberos}. The jobs run on Spark"
            f" {spark_version(root)}; tests of the metastore also on 4.3. `make cluster` starts such a cluster to"
            " experiment by hand, `make cluster-test` runs the tests.",
            "These are Apache's releases. Not tried: Cloudera CDP, Ranger, Impala, a NameNode with a standby,"
            " more than one machine.",
            f"This page is generated by `{COMMAND}`.",
        ]
    )


def version(root: Path, server: str) -> str:
    """The release of a server, from the pom that fetches its libraries."""
    tree = ElementTree.parse(root / "tests/cluster/maven" / server / "pom.xml")
    found = tree.getroot().findtext(f"{{*}}properties/{{*}}{server}.version")
    if not found:
        raise ValueError(f"the pom of {server} has no property {server}.version")
    return found


def spark_version(root: Path) -> str:
    lock = (root / "demo/services/lock_files" / f"{paths.DEFAULT_SPARK}.txt").read_text(encoding="utf-8")
    found = re.search(r"^pyspark==(\S+)", lock, re.MULTILINE)
    if not found:
        raise ValueError(f"no pyspark in the lock of {paths.DEFAULT_SPARK}")
    return found[1]


def _render(section: Section) -> str:
    head = [f"### {_escape(section.heading)}", f"`{section.path}`", _escape(section.intro)]
    rows = ["| tried | of each | more |", "|---|---|---|", *(_row(tried) for tried in section.tried)]
    return "\n\n".join([*filter(None, head), "\n".join(rows)])


def _row(tried: Tried) -> str:
    cells = (_sentence(tried.phrase), "; ".join(tried.cases), tried.more)
    return re.sub(r"\| +(?=\|)", "| ", f"| {' | '.join(_escape(cell) for cell in cells)} |")


def _escape(text: str) -> str:
    return re.sub(r"[|<>]", lambda found: {"|": "\\|", "<": "&lt;", ">": "&gt;"}[found[0]], text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def main() -> None:
    argparse.ArgumentParser(description=f"Write {PAGE} from the names of the tests.").parse_args()
    (paths.ROOT / PAGE).write_text(page(paths.ROOT), encoding="utf-8")


if __name__ == "__main__":
    main()
