"""Guards of text that a table brings: it is never substituted, expanded or executed."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Item, Remove

_HOSTILE = "tests/spark/test_hostile_text.py"

#: Those that need Spark.
TEXT_ON_SPARK = (
    Mutation(
        "H48-substitute",
        "variables in SQL text are replaced by their values",
        (Item("statements_pinned", "spark.sql.variable.substitute", "true"),),
        (f"{_HOSTILE}::test_a_condition_means_what_it_says[defaults]",),
        "spark",
    ),
    Mutation(
        "H48-settings",
        "a cluster's settings say what a literal or a statement means",
        (Remove("statements_by_default"),),
        (f"{_HOSTILE}::test_a_condition_means_what_it_says[others]",),
        "spark",
    ),
    Mutation(
        "H48-session",
        "the text of a condition is parsed by the settings of another session",
        (Remove("text_parsed_by_own_session"),),
        (f"{_HOSTILE}::test_a_condition_means_what_it_says[defaults]",),
        "spark",
    ),
)
