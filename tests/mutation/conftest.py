"""The runs of all mutations, and the table at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mutation import summary
from tests.mutation.checkout import Runs
from tests.mutation.hazards import MUTATIONS

#: The one that waits for its run; other tests are about all mutations too.
TEST = "test_without_its_guard_a_hazard_fails_a_test"


@pytest.fixture(scope="session", autouse=True)
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Runs]]:
    """By environment, of those mutations that this session is going to ask for; both go on side by side."""
    names = {item.name for item in request.session.items}
    wanted = [mutation for mutation in MUTATIONS if f"{TEST}[{mutation.id}]" in names]
    ids = {env: [m.id for m in wanted if m.env == env] for env in sorted({m.env for m in wanted})}
    thorough = request.config.getoption("--test-set") == "all"
    started = {env: Runs.start(tmp_path_factory.mktemp(env), env, ids[env], baseline=thorough) for env in ids}
    yield started
    for each in started.values():
        each.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    killed: dict[str, bool] = {}
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            if f"::{TEST}[" in report.nodeid:
                name = report.nodeid.rpartition("[")[2].removesuffix("]")
                killed[name] = outcome == "passed" and killed.get(name, True)
    if killed:
        terminalreporter.section("mutations")
        for line in summary.lines(killed):
            terminalreporter.write_line(line)
