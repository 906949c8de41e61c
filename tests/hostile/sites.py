"""The places in the jobs' code where a text leaves it: SQL, files and lines. They are found in the code itself.

The statements of messages are in `spark_jobs/core/values/ddl.py` and are no sites: nothing runs them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PRODUCT = Path(__file__).parents[2] / "spark_jobs"
#: What Spark parses as a statement, an expression or a type.
TAKES_TEXT = {
    *("sql", "selectExpr", "expr", "parseExpression", "parsePlan", "parseDataType"),
    *("filter", "where", "createOrReplaceTempView"),
}
#: Parts of statements, in the modules that send them.
_STATEMENT = re.compile(
    r"\b(SELECT|INSERT|CREATE|ALTER|DROP|ANALYZE|MSCK|TABLE|PARTITION|PARTITIONED|LOCATION|TBLPROPERTIES|SERDE"
    r"|SERDEPROPERTIES|STORED|VALUES|WHERE|FROM|SET)\b"
)
_SENDS = "adapters/"
#: What writes a file. `create` and `replace` are those of a file system, which is named so.
_WRITES = {
    *("save", "saveAsTable", "insertInto", "saveAsTextFile", "saveAsNewAPIHadoopFile"),
    *("write_bytes", "write_text", "createWriter", "mergeFiles"),
}
_OF_FILE_SYSTEM = {"create", "replace"}
#: What a person or another program reads at once.
_SHOWS = {"print", "show"}


@dataclass(frozen=True)
class Site:
    """A call that hands a text on.

    Attributes:
        kind: what it is: SQL, file or line.
        path: the module, relative to the package.
        lines: those of the call, from the first to the last.
    """

    kind: str
    path: str
    call: str
    lines: range

    @property
    def name(self) -> str:
        return f"{self.kind} {self.path}: {self.call}"


def sites() -> list[Site]:
    """Return all sites, in the order of modules and lines."""
    return [site for path in sorted(PRODUCT.rglob("*.py")) for site in sites_in(path)]


def sites_in(path: Path, root: Path = PRODUCT) -> Iterator[Site]:
    where, passed = str(path.relative_to(root)), set()
    for node in ast.walk(ast.parse(path.read_text())):
        kind = _kind(node, where)
        if kind and node not in passed:
            passed |= {each for each in ast.walk(node) if isinstance(each, ast.JoinedStr)}
            # Which quotes Python chooses depends on its version.
            text = ast.unparse(node).replace('"', "'")
            yield Site(kind, where, text, range(node.lineno, (node.end_lineno or 0) + 1))


def _kind(node: ast.AST, where: str) -> str | None:
    if isinstance(node, ast.Call):
        return _kind_of_call(node)
    text = isinstance(node, ast.JoinedStr) and where.startswith(_SENDS) and not is_constant(node)
    return "SQL" if text and _STATEMENT.search(ast.unparse(node)) else None


def _kind_of_call(call: ast.Call) -> str | None:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", None)
    of = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name in TAKES_TEXT and of and not all(map(is_constant, call.args)):
        return "SQL"
    if (name in _WRITES and of) or (name in _OF_FILE_SYSTEM and of.endswith("fs")):
        return "file"
    if (name in _SHOWS and (of or name == "print")) or of in ("sys.stdout", "sys.stderr"):
        return "line"
    return None


def is_constant(node: ast.AST) -> bool:
    """Tell whether a text is written in the code: no name, value or property is in it."""
    if isinstance(node, ast.Starred):
        return is_constant(node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(is_constant, node.elts))
    if isinstance(node, ast.JoinedStr):
        return all(is_constant(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return isinstance(node.value, ast.Name) and node.value.id.isupper()
    return isinstance(node, ast.Constant)
