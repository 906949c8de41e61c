"""Coverage over all suites: each leaves its own data file, which are put together at the end.

Programs that a test starts are counted too, wherever the sources lie for them: in a bundle, in a wheel.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from demo.services import paths
from demo.services.processes import own_environ

OPTIONS = ("--cov", "--cov-report=")

SETTINGS = """\
[run]
branch = true
parallel = true
patch = subprocess
source_pkgs =
    lakekeeper_provider
    spark_jobs
source_dirs =
    {root}/lakekeeper_provider
    {root}/spark_jobs
data_file = {data}
disable_warnings =
    no-data-collected
    module-not-imported
    module-not-measured

[paths]
jobs =
    {root}/spark_jobs
    */spark_jobs
provider =
    {root}/lakekeeper_provider
    */lakekeeper_provider
"""


def environ(out: Path, slug: str) -> dict[str, str]:
    settings = out / slug / "coveragerc"
    settings.write_text(SETTINGS.format(root=paths.ROOT, data=out / "coverage" / f"data.{slug}"))
    (out / "coverage").mkdir(exist_ok=True)
    return {"COVERAGE_RCFILE": str(settings)}


def report(out: Path) -> None:
    """Printed; a low number fails nothing, so neither does a missing one."""
    settings = out / "coveragerc"
    settings.write_text(SETTINGS.format(root=paths.ROOT, data=out / "coverage-total"))
    collected = sorted(str(data) for data in (out / "coverage").iterdir())
    _coverage("combine", f"--rcfile={settings}", "--quiet", "--keep", *collected)
    _coverage("report", f"--rcfile={settings}", "--skip-empty")


def _coverage(*arguments: str) -> None:
    tool = paths.env_dir("dev") / "bin" / "coverage"
    subprocess.run([tool, *arguments], cwd=paths.ROOT, env=own_environ())
