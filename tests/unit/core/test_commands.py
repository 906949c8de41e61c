"""Commands that messages tell a person to paste: each name and path is one word, and nothing else is run."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_jobs.core.messages.commands import AWAY, hdfs_path, quoted, word
from spark_jobs.core.messages.errors import DamagedOriginals, OnlyCopy, OutOfPlace
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.remedies import verbs
from spark_jobs.core.messages.remedies.accounts import no_trash, with_quota_command
from spark_jobs.core.messages.remedies.runs import without_run
from spark_jobs.core.messages.remedies.writers import dead_writer
from spark_jobs.core.values import ddl
from spark_jobs.protocol.execution.unit_results import with_remedy
from tests.hostile.corpus import PATTERNS, SHELL

HOSTILE = [*SHELL, *PATTERNS]


def run(command: str, folder: Path) -> list[str]:
    """Run a command in bash, where the programs of the commands only tell their words."""
    told = 'told() { printf \'%s\\0\' "$#" "$@"; }; hdfs() { told hdfs "$@"; }; lakekeeper() { told lakekeeper "$@"; };'
    done = subprocess.run(
        ["bash", "-c", f"{told}\n{command}"], cwd=folder, capture_output=True, check=True, env={"HOME": "/h"}
    )
    assert done.stderr == b""
    assert list(folder.iterdir()) == []
    found, words = done.stdout.decode().split("\0")[:-1], []
    while found:
        count, found = int(found[0]), found[1:]
        words += found[:count]
        found = found[count:]
    return words


@pytest.mark.parametrize("text", HOSTILE)
def test_a_word_comes_out_as_it_is(tmp_path: Path, text: str) -> None:
    for quote in (word, quoted):
        assert run(f"hdfs {quote(text)} end", tmp_path) == ["hdfs", text, "end"]
        assert quote(text).isprintable()
        if text.isprintable():
            assert shlex.split(quote(text)) == [text]


def test_plain_words_are_not_quoted() -> None:
    assert [word(text) for text in ("db.t", "nightly-9f2c", "hdfs://nn/w/p=1")] == [
        "db.t",
        "nightly-9f2c",
        "hdfs://nn/w/p=1",
    ]


def test_a_zero_byte_does_not_cut_a_path_off(tmp_path: Path) -> None:
    (found,) = run(f"hdfs {quoted('/w/t' + chr(0) + '/x')}", tmp_path)[1:]
    assert found != "/w/t"
    assert found.endswith("/x")


@pytest.mark.parametrize("name", HOSTILE)
def test_the_commands_of_messages_run_nothing_else(tmp_path: Path, name: str) -> None:
    path = f"hdfs://nn/w/{name}/t"
    escaped = re.sub(r"([\\*?\[\]{}])", r"\\\1", path)
    away = re.escape(AWAY)
    commands = [
        (OutOfPlace(path, "a file").command, ["hdfs", "dfs", "-mv", escaped, "away"]),
        (_last(dead_writer(path)), ["hdfs", "dfs", "-rm", "-r", escaped]),
        (without_run(path, {}, ()), ["hdfs", "dfs", "-mv", escaped, "away"]),
        (
            without_run(path, {path: f"{path}2"}, ()),
            [*("hdfs", "dfs", "-test", "-e", escaped), "hdfs", "dfs", "-mv", escaped, "away"],
        ),
        (
            _ticked(with_remedy("r", DamagedOriginals("x"), verbs.at_location(path), name)),
            ["lakekeeper", "forget", "--location", path, "--run-id", name, "--yes"],
        ),
        (
            _ticked(with_remedy("r", OnlyCopy("x", path, missing=True), verbs.of_table(name), "r1")),
            ["lakekeeper", "rollback", "--table", name, "--run-id", "r1"],
        ),
        (
            re.search(
                r"superuser \((.*), then hdfs", no_trash(name, verbs.at_location(path), "r1"), re.DOTALL
            )[1],  # type: ignore[index]
            ["hdfs", "dfs", "-mkdir", "-p", f"/user/{name}"],
        ),
    ]
    for command, words in commands:
        assert run(re.sub(away, "away", command), tmp_path) == words


def _last(text: str) -> str:
    """Return the command at the end of a sentence."""
    return text[text.index("hdfs dfs") :]


def _ticked(text: str) -> str:
    """Return the command between the first and the last backtick of a message."""
    return text[text.index("`") + 1 : text.rindex("`")]


def test_a_quota_is_raised_on_the_directory_of_the_message(tmp_path: Path) -> None:
    text = "The NameSpace quota (directories and files) of directory /w/$(touch pwned) is exceeded: quota=1"
    found = with_quota_command(text)
    assert "$(touch pwned)" not in found.partition("Raise it")[2].replace("'/w/$(touch pwned)'", "")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("hdfs://nn/w/p=1", "'hdfs://nn/w/p=1'"),
        ("/w/[a]{b}*?", "'/w/\\[a\\]\\{b\\}\\*\\?'"),
        ("/w/a\\b", "'/w/a\\\\b'"),
    ],
)
def test_a_path_is_no_pattern_for_hadoops_shell(path: str, shown: str) -> None:
    """`hdfs dfs -rm -r '/w/p=*'` would delete each partition."""
    assert hdfs_path(path) == shown
    assert hdfs_path(path, "/*") == f"{shown[:-1]}/*'"


# What a shell for SQL does to a statement before it is parsed: variables, and the end of a statement.
@pytest.mark.parametrize("text", HOSTILE)
def test_no_shell_for_sql_changes_a_literal(text: str) -> None:
    found = ddl.literal(f"{text}${{env:PATH}};")
    assert "${" not in found
    assert ";" not in found
    assert not set(found) & set("\n\r\t\x1b\x7f")


@pytest.mark.parametrize("name", ["db.t", "db.it`s", "db.a b"])
def test_a_statement_names_its_table(name: str) -> None:
    parts = [
        part if re.fullmatch(r"\w+", part) else "`" + part.replace("`", "``") + "`"
        for part in name.split(".")
    ]
    assert ddl.drop(name) == f"DROP TABLE {'.'.join(parts)}"
    assert ddl.set_property(name, "a", "b").startswith(f"ALTER TABLE {'.'.join(parts)} SET ")


#: Names that end a statement, a literal or a line in Beeline or in Hive's shell, although they are quoted.
ENDING = [
    "p; DROP TABLE victim; --",
    "p'",
    'p"',
    "p\nDROP TABLE victim;",
    "p\\",
    "p -- x",
    "/*",
    "!sh touch pwned",
]


@pytest.mark.parametrize("name", ENDING)
def test_a_statement_whose_name_a_shell_for_sql_acts_on_is_not_shown(name: str) -> None:
    """Both shells take the end of a statement in backticks for one: what follows would be the next statement."""
    spec = ((name, "1"),)
    shown = [
        *(
            ddl.drop("db.t", spec),
            ddl.add_partition("db.t", spec, "/x"),
            ddl.set_location("db.t", spec, "/x"),
        ),
        *(ddl.drop(f"db.{name}"), ddl.repair(f"db.{name}"), ddl.set_property(f"db.{name}", "a", "b")),
    ]
    for text in shown:
        assert "TABLE db" not in text
        assert text.startswith("(no statement is shown, because ")
        assert printable(repr(name)[1:-1]) in text


def test_a_variable_in_a_name_is_pointed_out() -> None:
    assert "SET hive.variable.substitute=false" in ddl.drop("db.t", (("${env:X}", "1"),))
    assert "SET " not in ddl.drop("db.t", (("p", "${env:X}"),))


_PRODUCT = Path(ddl.__file__).parents[2]
#: Where statements are made, which have quotes of their own.
_OWN = (
    *("core/values/ddl.py", "adapters/hadoop/sql.py", "adapters/hadoop/metastore.py"),
    "adapters/native/iceberg.py",
)
#: The sentences with commands. The other texts of messages have none but those of the codes, without values.
_REMEDIES = "core/messages/remedies/"
_CODES = ("core/messages/refusals.py", "core/messages/damage.py", "core/messages/warning_codes.py")
_COMMAND = re.compile(
    r"hdfs dfs|hdfs dfsadmin|lakekeeper (?:analyze|plan|compact|rollback|cleanup|history|forget|check)\b"
    r"|--(?:table|location|run-id|trusted-owners)\b|(?:ALTER|DROP|CREATE|ANALYZE|MSCK REPAIR) (?:EXTERNAL )?TABLE"
    r"|TBLPROPERTIES"
)
_QUOTING = {
    *("word", "quoted", "hdfs_path", "hdfs_paths", "table_name", "literal"),
    *("set_property", "set_location", "add_partition", "drop"),
}
#: Values behind the beginning of a command that are commands, flags or sentences already, made of quoted words.
_MADE = {
    *("AWAY", "target", "value", "also", "stays", "home", "command", "rollback", "add", "statement", "lost"),
    *("found_by", "hint", "recursive", "replaced_by"),
}
#: The commands of HDFS and of the jobs, which have quoted their words.
_COMMANDS = {
    *("move", "move_away", "copy", "copy_content", "delete", "delete_empty", "give_to", "close_to_others"),
    *("rollback", "forget", "cleanup", "recovery", "check", "history", "at_location", "of_table", "keep"),
}


def _strings(tree: ast.AST) -> Iterator[ast.JoinedStr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))


def _unquoted(text: ast.JoinedStr) -> Iterator[str]:
    """Yield the values behind the beginning of a command that no function has quoted."""
    begun = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            begun += str(part.value)
        elif isinstance(part, ast.FormattedValue) and _COMMAND.search(begun):
            call = part.value.func if isinstance(part.value, ast.Call) else None
            name = getattr(call, "id", getattr(call, "attr", None))
            if name not in _QUOTING | _COMMANDS and ast.unparse(part.value) not in _MADE:
                yield ast.unparse(part.value)


def _concatenated(node: ast.AST) -> bool:
    """Tell whether a command is put together by `+`, `%`, `join` or `format`, where its words cannot be looked at."""
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("format", "join"):
        parts = [getattr(node.func, "value", None)]
    else:
        return False
    return any(isinstance(part, ast.Constant) and _COMMAND.search(str(part.value)) for part in parts)


#: The beginnings of commands that a person pastes.
_PASTED = re.compile(
    r"hdfs dfs(admin)? |lakekeeper (?:analyze|plan|compact|rollback|cleanup|history|forget|check)\b"
)


def _texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, but for docstrings."""
    with_docstring = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, with_docstring) and _has_doc(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def _has_doc(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


@pytest.mark.parametrize(
    "path", sorted(_PRODUCT.rglob("*.py")), ids=lambda path: str(path.relative_to(_PRODUCT))
)
def test_no_message_has_a_command_with_a_word_that_is_not_quoted(path: Path) -> None:
    name = str(path.relative_to(_PRODUCT))
    if name in _OWN:
        return
    tree = ast.parse(path.read_text())
    if not name.startswith(_REMEDIES) and name not in _CODES:
        assert [text for text in _texts(tree) if _PASTED.search(text)] == []
    assert [found for text in _strings(tree) for found in _unquoted(text)] == []
    assert not [node for node in ast.walk(tree) if _concatenated(node)]


def test_a_word_that_is_not_quoted_is_found() -> None:
    def of(code: str) -> list[str]:
        return [found for text in _strings(ast.parse(code)) for found in _unquoted(text)]

    assert of("""f"delete it: hdfs dfs -rm -r '{path}'" """) == ["path"]
    assert of("""f"`lakekeeper rollback --table {run.table}`" """) == ["run.table"]
    assert of("""f"{path} is gone: hdfs dfs -mv {hdfs_path(path)} {AWAY}" """) == []
    assert _concatenated(ast.parse("'hdfs dfs -rm ' + path").body[0].value)  # type: ignore[attr-defined]
