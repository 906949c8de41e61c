"""What suites need of a machine besides a Python and a Java, and how to get it.

`demo.services.environments`, `tests.cluster.jars` and `tests.engines.jars` fetch and compile; here nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from demo.services import environments, machine
from tests.cluster import jars, kerberos
from tests.engines import jars as engine_jars
from tests.harness.suites import Suite, environments_of, optional_environments_of

#: Debian's, which has all modules.
_JAVA = "openjdk-17-jre-headless"


@dataclass(frozen=True)
class Missing:
    """Something that a machine lacks.

    Attributes:
        name: a program, or a version of one.
        package: Debian's and Ubuntu's package; empty if none of their releases has it.
    """

    name: str
    package: str = ""


def lack(suite: Suite) -> str | None:
    """Return why the suite cannot run here, and what changes that; None if it can."""
    missing = of_suite(suite)
    if not missing:
        return None
    return f"this machine lacks {_names(missing)}; {ways(missing)}"


def of_suite(suite: Suite) -> list[Missing]:
    """Return what the suite lacks, each once."""
    found = [*(each for need in suite.needs for each in _MISSING[need]()), *_of_environments(suite)]
    return list(dict.fromkeys(found))


def left_out(suites: Iterable[Suite]) -> str:
    """Return two lines: what of these suites cannot run here, and what changes that; empty if all of them can."""
    suites = list(suites)
    found = {suite.name: missing for suite in suites if (missing := of_suite(suite))}
    found |= {
        f"{suite.name} with {env}": [_of_environment(lacks)]
        for suite in suites
        for env in optional_environments_of(suite)
        if suite.name not in found and (lacks := environments.lacks(env))
    }
    if any(suite.group == "demo" for suite in suites) and (missing := _browser()):
        found["the pages in a browser"] = missing
    if not found:
        return ""
    named = ", ".join(f"{name} ({_names(missing)})" for name, missing in found.items())
    return f"left out here: {named}\nto run them too: {ways([each for group in found.values() for each in group])}"


def ways(missing: Sequence[Missing]) -> str:
    """Return what installs these things."""
    packages = " ".join(dict.fromkeys(each.package for each in missing if each.package))
    others = ", ".join(dict.fromkeys(each.name for each in missing if not each.package))
    installed = f"on Debian and Ubuntu: apt-get install {packages}" if packages else ""
    return "; ".join(filter(None, (installed, f"on the PATH: {others}" if others else "")))


def _names(missing: Sequence[Missing]) -> str:
    return ", ".join(each.name for each in missing)


def _of_environments(suite: Suite) -> list[Missing]:
    return [_of_environment(lacks) for name in environments_of(suite) if (lacks := environments.lacks(name))]


def _of_environment(lacks: str) -> Missing:
    return Missing(lacks, _JAVA if "Java" in lacks else "")


def _jars() -> list[Missing]:
    return [Missing("mvn", "maven")] if jars.lack() else []


def _engines() -> list[Missing]:
    return [Missing("mvn", "maven")] if engine_jars.lack() else []


def _kerberos() -> list[Missing]:
    """Its servers, and what Python's client for it is compiled with."""
    return [Missing(*each) for each in (*kerberos.missing(), *machine.missing_to_compile())]


def _browser() -> list[Missing]:
    return [Missing(*each) for each in machine.missing_browser()]


_MISSING = {"jars": _jars, "engines": _engines, "kerberos": _kerberos}
