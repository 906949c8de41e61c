"""The comparison of the footers of written files with those that were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from spark_jobs.core.formats import footers, leaf_statistics
from spark_jobs.core.formats.arrow import OWN_KEY
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.messages.errors import Refusal, Unreadable, VerificationFailed
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode


@contextmanager
def written_files() -> Iterator[None]:
    """Translate what is raised about the content of written files: no file of the table is to blame for it."""
    try:
        yield
    except Unreadable as error:
        text = f"what was written cannot be read: {error.path}: {error.what}"
        raise VerificationFailed(text) from None  # guard: written_files_are_not_refused


def check_written(before: Profile, written: Sequence[Footer], statistics: bool = True) -> list[str]:
    """Check that the written files have the rows, the physical types, the metadata and the figures of the originals.

    Args:
        statistics: other figures of a column are an error. Else all values were compared, as one reader has read them
            on both sides: then the statistics of the originals may be wrong, and a warning says so.

    Returns:
        Warnings.

    Raises:
        VerificationFailed: the row counts differ.
        FiguresDiffer: the figures of a column differ.
        Refusal: TYPE, a physical type or the metadata differs.
    """
    rows = footers.rows_of(written)
    if rows != before.rows:  # guard: rows_compared
        raise VerificationFailed(f"{before.rows} rows were read and {rows} written")
    _check_metadata(before, written)
    _check_schema(before, written)
    _check_types(before, written)
    return [*_check_statistics(before, written, statistics), *_bounded_by_nan(written)]


def check_same_footers(before: Profile, written: Sequence[Footer]) -> None:
    """Check that files of Arrow have the schema and the metadata of the originals, character for character.

    The name of the schema's root is the writer's, and no reader uses it.

    Raises:
        VerificationFailed: they differ.
    """
    for footer in written:
        if _without_root(footer.schema) != _without_root(before.schemas[0]):  # guard: arrow_schema_compared
            raise VerificationFailed(f"the schema is {before.schemas[0]}, and was written as {footer.schema}")
        if _own(footer.writer) != _own(before.writer or {}):  # guard: arrow_metadata_compared
            raise VerificationFailed(
                f"the footers have the keys {sorted(before.writer or {})}, and the new ones {sorted(footer.writer)},"
                " or other values"
            )


def _without_root(schema: str) -> str:
    return schema.partition("\n")[2]


def _own(metadata: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in metadata.items() if key != OWN_KEY}


def _check_statistics(before: Profile, written: Sequence[Footer], statistics: bool) -> list[str]:
    if statistics:
        leaf_statistics.check_statistics(before.statistics, footers.statistics_of(written))
        return []
    differences = leaf_statistics.differences(before.statistics, footers.statistics_of(written))
    return [WarningCode.STATISTICS_DIFFER.text(each) for each in differences][
        :1
    ]  # guard: other_figures_named


def _bounded_by_nan(written: Sequence[Footer]) -> list[str]:
    columns = sorted({column for footer in written for column in footer.bounded_by_nan})
    if not columns:
        return []
    names = ", ".join(f"'{column}'" for column in columns)
    return [
        WarningCode.NAN_STATISTICS.text(f"minimum and maximum of {names} are NaN in stripes of the new files")
    ]


def _check_metadata(before: Profile, written: Sequence[Footer]) -> None:
    for footer in written:
        if dict(footer.metadata) != dict(before.metadata):  # guard: metadata_compared
            raise Refusal(
                RefusalCode.TYPE,
                f"the metadata is {dict(before.metadata)}, and would be rewritten as {dict(footer.metadata)}",
            )


def _check_schema(before: Profile, written: Sequence[Footer]) -> None:
    """Compare the schemas of files whose headers have them as texts; others are compared type by type."""
    for footer in written:
        if footer.rows is None and footer.schema not in before.schemas:  # guard: schema_compared
            raise Refusal(
                RefusalCode.TYPE,
                f"the schema is {before.schemas[0]}, and would be rewritten as {footer.schema}",
            )


def _check_types(before: Profile, written: Sequence[Footer]) -> None:
    after: dict[str, str] = {}
    for footer in written:
        after.update(footer.leaves)
    for path in sorted(before.leaves.keys() | after.keys()):
        was, now = before.leaves.get(path, "absent"), after.get(path, "absent")
        if was != now:  # guard: types_compared
            raise Refusal(RefusalCode.TYPE, f"column '{path}' is {was}, and would be rewritten as {now}")
