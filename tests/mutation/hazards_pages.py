"""Guards of the pages: who sees which tables, and what a page may run. Their tests start Airflow's API server."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Value

_PAGES = "tests/airflow/page/test_pages.py"


def _of_pages(name: str, what: str, edit: Operator, test: str) -> Mutation:
    return Mutation(name, what, (edit,), (f"{_PAGES}::{test}",), "pages")


OF_PAGES = (
    _of_pages(
        "H59-list",
        "the list has tables of DAGs that the user may not read",
        Value("readable_dags_only", "frozenset(dags)"),
        "TestRights::test_the_list_has_the_tables_of_readable_dags_only",
    ),
    _of_pages(
        "H59-table",
        "the page of a table has what jobs of other DAGs have found",
        Value("permitted_dags_only", "frozenset(dags)"),
        "TestRights::test_of_a_table_of_two_dags_each_reader_sees_his_own",
    ),
    _of_pages(
        "H59-run",
        "the page of a DAG run is shown where Airflow has not checked its DAG",
        Condition("dag_of_the_address_is_checked", False),
        "TestRights::test_an_airflow_that_reads_the_dag_from_the_path_only_lets_nobody_else_in",
    ),
    _of_pages(
        "H59-policy",
        "a page runs programs that it has not brought",
        Condition("each_answer_has_the_policy", False),
        "test_each_answer_has_a_policy_that_runs_no_program_of_a_page",
    ),
)
