"""The survey that analyses keep: `<home>/log/survey/analysis-<number>`. The highest number counts.

It is no part of a snapshot of the commit log, because a snapshot is a change of the table, and an analysis makes none.
"""

from __future__ import annotations

from spark_jobs.core.planning.survey import SurveyedUnits, decode_survey, encode_survey
from spark_jobs.core.records.snapshots import BrokenLog
from spark_jobs.protocol.commit_log.numbered_hint import NumberedHint
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.trust import Trust


class AnalysisStore:
    """The survey of analyses in one home."""

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self._file = NumberedHint(fs, home, trust, "analysis")
        self.directory = self._file.directory
        self._read: SurveyedUnits | None = None

    def read(self) -> SurveyedUnits:
        """Return the survey; empty if there is none that can be read, or if another account wrote it."""
        if self._read is None:
            try:
                body = self._file.read()
                self._read = decode_survey(body[1], body[0]) if body else {}
            except (BrokenLog, OSError):
                self._read = {}
        return self._read

    def publish(self, survey: SurveyedUnits) -> None:
        """Write a survey into the directory, which exists. Then delete earlier ones.

        Raises:
            OSError: it is not known whether the file is there.
            Refusal: NUMBER_TOO_HIGH, no number is left.
        """
        self._file.publish(encode_survey(survey))
