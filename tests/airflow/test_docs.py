"""The DAGs of README and documentation are imported as they stand, on each version of Airflow."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from tests.airflow.support import dags_in
from tests.contract.doc_blocks import Block, blocks

PYTHON = [block for block in blocks("python") if block.parsed]
#: Those that define a DAG. Other blocks are parts of one, or run in a Spark session.
DAGS = [block for block in PYTHON if "@dag" in block.text]
OURS = ("airflow", "lakekeeper_provider")


@pytest.mark.parametrize("block", DAGS, ids=map(str, DAGS))
def test_a_dag_of_the_documentation_is_imported(airflow_db: object, tmp_path: Path, block: Block) -> None:
    (tmp_path / "documented.py").write_text(block.text)
    bag = dags_in(tmp_path)
    assert bag.import_errors == {}
    assert len(bag.dags) == 1


@pytest.mark.parametrize("block", PYTHON, ids=map(str, PYTHON))
def test_what_a_block_imports_of_airflow_and_the_provider_exists(block: Block) -> None:
    for node in ast.walk(ast.parse(textwrap.dedent(block.text))):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in OURS:
            exec(compile(ast.Module([node], []), str(block), "exec"), {})


def test_there_is_one_for_each_operator() -> None:
    pages = {block.page for block in DAGS}
    folder = Path(__file__).parents[2] / "docs/operators"
    assert {f"docs/operators/{page.name}" for page in folder.glob("*.md")} - pages == {
        "docs/operators/index.md"
    }
