"""Arguments that hold the output of other tasks of this package, which Airflow must not render as templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ReportArguments:
    """The part of an operator that takes summaries of reports as arguments.

    Tables supply their texts: a name or a partition value may be ``{{ conn.x.password }}``. Airflow renders no
    XCom, except for mappings and lists that ``expand_kwargs`` hands over.
    """

    def render_template(self, content: Any, *args: Any, **kwargs: Any) -> Any:
        """Render an argument, or a part of one; a summary stays as it is."""
        if (
            isinstance(content, Mapping) and {"schema_version", "verb"} <= content.keys()
        ):  # guard: reports_not_rendered
            return content
        return super().render_template(content, *args, **kwargs)  # type: ignore[misc]
