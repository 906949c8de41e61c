"""The documentation and the files of the package that are generated from the code.

    python -m tests.contract.pages          # writes them (make docs)

A part stands between `<!-- generated: NAME -->` and `<!-- end of NAME -->`. What is imported here needs no package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lakekeeper_provider.events.metrics import METRICS
from lakekeeper_provider.options.definitions import LEVELS
from spark_jobs.core.messages.damage import DamageCode
from spark_jobs.core.messages.outcomes import CheckOutcome, JobOutcome, TableOutcome, UnitOutcome
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.option import VERBS, Level, Option
from spark_jobs.protocol.measuring.phases import PHASES
from tests.contract import code_pages, config_template, operator_pages, settings_page
from tests.contract.option_table import option_table

ROOT = Path(__file__).parents[2]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def refusals() -> str:
    rows = [(f"`{code.name}`", code.cause, code.remedy) for code in RefusalCode]
    return table(("code", "cause", "remedy"), rows)


def warnings() -> str:
    return table(
        ("code", "cause", "remedy"), [(f"`{code.name}`", code.cause, code.remedy) for code in WarningCode]
    )


def findings() -> str:
    rows = [(f"`{code.name}`", str(code.severity), code.cause, code.remedy) for code in DamageCode]
    return table(("code", "severity", "cause", "what to do"), rows)


def phases() -> str:
    return table(("phase", "what the job does"), [(f"`{phase}`", text) for phase, text in PHASES.items()])


def outcomes() -> str:
    units = [(f"`{each}`", each.meaning, each.remedy) for each in UnitOutcome]
    tables = [(f"`{each}`", each.meaning, each.remedy) for each in TableOutcome]
    jobs = [(f"`{each}`", str(each.exit_code), each.meaning) for each in JobOutcome]
    header = ("meaning", "what to do")
    return "\n\n".join(
        [
            table(("outcome of a unit", *header), units),
            table(("outcome of a table", *header), tables),
            table(("outcome of a job", "exit code", "meaning"), jobs),
            check_outcomes(),
        ]
    )


def check_outcomes() -> str:
    return table(("outcome of a check of `doctor`", "meaning"), [(f"`{o}`", o.meaning) for o in CheckOutcome])


def flags() -> str:
    """Return the flags that set options; those that name tables, files and runs stand in the page itself."""
    header = ("flag", "verbs", "value")
    return by_level((level.value, table(header, _flag_rows(level))) for level in Level)


def by_level(parts: Iterable[tuple[str, str]]) -> str:
    """Return the tables of each level of options, under its name."""
    return "\n\n".join(f"**{title[0].upper()}{title[1:]}**\n\n{text}" for title, text in parts)


def _flag_rows(level: Level) -> list[tuple[str, str, str]]:
    return [
        (_flag(option), _verbs(option), _help(name, option))
        for name, option in OPTIONS.items()
        if option.flag and option.level is level
    ]


def _flag(option: Option) -> str:
    value = option.metavar or "|".join(option.choices)
    first = f"`{option.flag} {value}`" if value else f"`{option.flag}`"
    return first + (f", `{option.off_flag}`" if option.off_flag else "")


def _verbs(option: Option) -> str:
    return "all" if option.verbs == VERBS else ", ".join(option.verbs)


def _help(name: str, option: Option) -> str:
    default = getattr(DEFAULTS, name)
    shown = f"default: `{default}`" if default and not isinstance(default, bool) else ""
    more = "; ".join(filter(None, (option.parse.bounds, shown)))
    return option.help + (f" ({more})" if more else "")


def metrics() -> str:
    rows = [(f"`{name}`", kind, about) for name, (kind, about) in METRICS.items()]
    return table(("name, after `lakekeeper.VERB.`", "kind", "what it is"), rows)


def option_keys() -> str:
    rows = [
        (
            f"`{name}`",
            ", ".join(option.choices) or option.parse.bounds or option.parse.allowed,
            option.setters(),
        )
        for name, option in OPTIONS.items()
    ]
    return table(("key", "values", "set by"), rows)


def configuration() -> str:
    header = ("key", "default", "meaning")
    levels = ((level, table(header, config_template.readme_rows(level))) for level in LEVELS)
    return by_level([*levels, ("besides options", table(header, config_template.other_rows()))])


def packages() -> str:
    return table(("package", "what it has"), code_pages.package_rows())


def swap_states() -> str:
    header = ("live, `old`, `new` or `aside`", "state", "a compaction", "a rollback")
    return table(header, code_pages.state_rows())


#: The classes whose arguments stand on a page of docs/operators, by its name.
OPERATORS = {
    "index": "LakekeeperOperator",
    "analyze": "AnalyzeOperator",
    "compact": "CompactOperator",
    "record": "RecordCompactionOperator",
    "rollback": "RollbackOperator",
    "cleanup": "CleanupOperator",
    "check": "CheckOperator",
    "history": "HistoryOperator",
    "doctor": "DoctorOperator",
    "small-files-sensor": "SmallFilesSensor",
    "maintenance-window-sensor": "MaintenanceWindowSensor",
}


def arguments(name: str) -> str:
    rows = [argument.row for argument in operator_pages.arguments(name)]
    if not rows:
        return "It has none of its own."
    return table(("argument", "type", "required", "default", "meaning"), rows)


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/configuration.md": {"configuration": configuration},
    "docs/design/layout.md": {"packages": packages},
    "docs/design/protocol.md": {"swap states": swap_states},
    "docs/guides/doctor.md": {"check outcomes": check_outcomes},
    "docs/guides/monitoring.md": {"metrics": metrics},
    "docs/codes.md": {"outcomes": outcomes, "refusals": refusals, "warnings": warnings, "findings": findings},
    "docs/wire.md": {"flags": flags, "option keys": option_keys, "phases": phases},
    **{f"docs/operators/{page}.md": {name: partial(arguments, name)} for page, name in OPERATORS.items()},
}

#: Files that are generated as a whole.
FILES: Mapping[str, Callable[[], str]] = {
    "lakekeeper_provider/options/options.json": option_table,
    "lakekeeper_provider/shell/template.yaml": config_template.template,
    "docs/lakekeeper.example.yaml": config_template.template,
    "lakekeeper_provider/shell/schema.json": config_template.schema,
    "docs/settings.md": settings_page.page,
}
PAGES = (*PARTS, *FILES)


def generated(page: str) -> str:
    """Return a page as it should be; raises ValueError where a part has no place in it."""
    if page in FILES:
        return FILES[page]()
    text = (ROOT / page).read_text()
    for name, render in PARTS[page].items():
        marks = re.compile(rf"(<!-- generated: {name} -->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        if not marks.search(text):
            raise ValueError(f"{page} has no place for '{name}'")
        content = render()
        text = marks.sub(lambda found, content=content: found[1] + content + found[2], text)
    return text


def main() -> None:
    for page in PAGES:
        (ROOT / page).write_text(generated(page))
        print(f"wrote {page}")


if __name__ == "__main__":
    main()
