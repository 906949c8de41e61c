"""Which package answers for the command, and what it is called where another program has a command of its name."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from lakekeeper_provider import __version__
from lakekeeper_provider.shell import cli, program

BESIDE = "lakekeeper 0.0.6 is installed here too, with a command of this name; lakekeeper-hive is ours"


@pytest.fixture(params=[None, "0.0.6"], ids=["alone", "beside Lakekeeper 0.0.6"])
def other(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    found: str | None = request.param

    def version(_: str) -> str:
        if found is None:
            raise PackageNotFoundError
        return found

    monkeypatch.setattr(program, "version", version)
    return found


def test_the_version_says_which_package_answers(
    other: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    first, *more = capsys.readouterr().out.splitlines()
    assert first.startswith(f"lakekeeper {__version__} (lakekeeper-hive-jobs in ")
    assert more == ([BESIDE] if other else [])


def test_messages_name_the_command_that_is_ours(
    other: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    own = "lakekeeper-hive" if other else "lakekeeper"
    assert cli.main(["generate-config", "-o", "/missing/lakekeeper.yaml"]) == 2
    assert capsys.readouterr().err.startswith(f"{own}: error: cannot write /missing/lakekeeper.yaml")
    with pytest.raises(SystemExit):
        cli.main(["compct"])
    assert capsys.readouterr().err.startswith(f"{own}: error: there is no command 'compct'")
