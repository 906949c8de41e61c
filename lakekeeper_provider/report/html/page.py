"""A report as one page of HTML that can be sent: it needs no network and runs no program."""

from __future__ import annotations

from markupsafe import Markup

from lakekeeper_provider.report import health
from lakekeeper_provider.report.html.rendering import STATIC, environment
from lakekeeper_provider.report.report import Report, totals


def page(report: Report) -> str:
    """Return the page of a report."""
    style = STATIC.joinpath("lakekeeper.css").read_text("utf-8")
    return (
        environment()
        .get_template("report.html")
        .render(
            style=Markup(style),  # noqa: S704 - a file of this package
            title=totals(report),
            report=report,
            records=list(health.records(report)),
        )
    )
