"""One footer for many files: a unit may have a million files, and few kinds of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.formats.footers import Footer, rows_of, statistics_of, unended_of


def merged(footers: Iterable[Footer]) -> list[Footer]:
    """Return one footer for all files that differ only in rows, sizes and figures.

    Thousands of files have a few different schemas and writers. Footers that were merged can be merged again.
    """
    kinds: dict[Hashable, list[Footer]] = {}
    for footer in footers:
        kinds.setdefault(kind_of(footer), []).append(footer)
    return [_one_for(each) for each in kinds.values()]


def kind_of(footer: Footer) -> tuple[Hashable, ...]:
    """Return what files must have in common to be described by one footer."""
    return (
        footer.schema,
        footer.struct,
        footer.problem,
        footer.created_by,
        footer.blooms,
        footer.stripes,
        footer.zones,
        footer.rows is None,
        footer.statistics is None,
        footer.header,
        footer.not_utf8 is None,
        footer.unended is None,
        *(tuple(each.items()) for each in (footer.leaves, footer.writer, footer.metadata)),
    )


def _one_for(footers: Sequence[Footer]) -> Footer:
    if len(footers) == 1:
        return footers[0]
    codecs: Counter[str] = Counter()
    for footer in footers:
        codecs.update(footer.codecs)
    known = footers[0].statistics is not None
    return replace(
        footers[0],
        rows=rows_of(footers),
        codecs=codecs,
        row_group=max(footer.row_group for footer in footers),
        statistics=statistics_of(footers) if known else None,
        unended=unended_of(footers),
        others=tuple(name for footer in footers for name in footer.names)[1:],
    )
