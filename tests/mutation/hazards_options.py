"""Guards of what may be asked for: bounds and layers of options, plans, and times that are no evidence."""

from __future__ import annotations

from tests.mutation.mutation import Mutation
from tests.mutation.operators import Condition, Operator, Remove, Rewrite, Value

_BOUNDS = "tests/unit/core/test_option_bounds.py"
_PLANNED = "tests/crash/test_planned.py"
_FUTURE = "tests/crash/test_future_times.py"

_VALUES = "tests/unit/core/test_golden.py::test_values_of_options"


def _value(name: str, what: str, edit: Operator) -> Mutation:
    return Mutation(f"H52-{name}", what, (edit,), (_VALUES,))


#: The forms of values, beside their bounds.
_FORMS = (
    _value("unicode-jobs", "a text is no Unicode that another program reads", Remove("texts_are_unicode")),
    _value("texts-jobs", "a text has any length", Remove("texts_within_bounds")),
    _value("digits", "a number is written in any digits", Condition("numbers_in_digits", False)),
    _value("lists-jobs", "a list has any length", Remove("lists_within_bounds")),
    _value("items", "an item of a list is of any type", Condition("items_are_texts", False)),
    _value(
        "identifiers", "a name has any length and any characters", Condition("names_within_bounds", False)
    ),
    _value("instants", "a time has no UTC offset", Condition("instants_with_offset", False)),
    _value("years", "a deadline leaves the calendar", Remove("years_within_bounds")),
    _value(
        "words", "a word that nobody knows is the value of an option", Condition("known_words_only", False)
    ),
    _value(
        "words-in-list",
        "a word that nobody knows is in the list of an option",
        Condition("known_words_in_list_only", False),
    ),
)
OPTIONS = (
    *_FORMS,
    Mutation(
        "H52-bounds",
        "an option has a value that no clock, counter, memory or NameNode stands",
        (Condition("values_within_bounds", False),),
        ("tests/unit/core/test_golden.py::test_values_of_options",),
    ),
    Mutation(
        "H52-layers",
        "an option is set in a layer that may not set it",
        (Condition("layers_of_options", False),),
        (f"{_BOUNDS}::test_an_option_is_taken_from_the_layers_that_may_set_it_and_from_no_other",),
    ),
    Mutation(
        "H52-protects",
        "a table is compacted, or its originals are deleted, because its property has a typing error",
        (Condition("unreadable_properties_protect", False),),
        (f"{_BOUNDS}::test_what_protects_a_table_is_never_loosened_because_it_cannot_be_read",),
    ),
    Mutation(
        "H52-stricter",
        "whoever may change a table's properties gives its files to another owner",
        (Condition("properties_only_stricter", False),),
        (
            "tests/unit/core/test_options.py::test_a_table_property_says_nothing_of_what_lies_outside_the_table",
        ),
    ),
    Mutation(
        "H52-plan",
        "a plan sets whose journals are trusted, or compacts a table that is opted out",
        (Condition("plans_choose_and_size", False),),
        (f"{_PLANNED}::test_a_plan_sets_nothing_but_what_chooses_and_sizes_work",),
    ),
    Mutation(
        "H52-twice",
        "units of a plan are dropped without a word",
        (Condition("each_table_once_in_a_plan", False),),
        (f"{_PLANNED}::test_a_table_that_is_in_a_plan_twice_is_an_error",),
    ),
    Mutation(
        "H53-pending",
        "a file of 2099 refuses its unit until then",
        (Condition("future_is_no_evidence", False),),
        (f"{_FUTURE}::test_a_pending_file_of_2099_refuses_no_unit_and_is_named_and_kept",),
    ),
    Mutation(
        "H53-young",
        "a file of 2099 keeps its unit young until then",
        (Rewrite("future_is_not_young", "A < B", "True"),),
        (f"{_FUTURE}::test_a_data_file_of_2099_is_not_young_for_ever",),
    ),
    Mutation(
        "H53-last",
        "a compaction of 2099 keeps its table from being due until then",
        (Rewrite("future_compaction_is_no_last", "A or B", "A"),),
        (f"{_FUTURE}::test_a_compaction_of_2099_does_not_keep_its_table_from_being_due",),
    ),
    Mutation(
        "H53-behind",
        "a driver whose clock is behind takes a file of an active writer for one of the future (two layers)",
        (
            Value("rules_by_both_clocks", "start"),
            Value("swap_by_both_clocks", "self.table.writer_rules([self.services.now()])"),
        ),
        (f"{_FUTURE}::test_a_writer_is_seen_although_the_clock_of_the_driver_is_days_off",),
    ),
    Mutation(
        "H53-ahead",
        "a retention ends because the clock of the file system is wrong",
        (Condition("retention_by_both_clocks", False),),
        (f"{_FUTURE}::test_a_file_system_whose_clock_is_ahead_ends_no_retention",),
    ),
    Mutation(
        "H53-newest",
        "the originals of the newest run are deleted in the place of those of a run of 2099",
        (Value("future_runs_keep_no_place", "[]"),),
        (f"{_FUTURE}::test_a_run_of_2099_takes_no_place_among_the_newest_ones",),
    ),
    Mutation(
        "H47-attempts",
        "what an attempt of a task has left goes live beside the copies",
        (Remove("attempts_deleted"),),
        ("tests/crash/test_minor.py::test_what_attempts_of_tasks_leave_does_not_go_live",),
    ),
)
