"""The numbers in the names of files of which the highest one counts, and which the next one follows.

Whoever may write to a directory of the jobs can put a file there. The number of one that no job reaches must not make
the next name too long, or one that no job parses.
"""

from __future__ import annotations

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: Jobs add one at a time, and seconds since the epoch are smaller. What has more digits is no number of a job.
_MOST_DIGITS = 12
_MOST = 10**_MOST_DIGITS - 1
#: A number without leading zeros, and one that is filled up to six digits: each number has one name.
PLAIN = rf"[1-9][0-9]{{0,{_MOST_DIGITS - 1}}}"  # guard: numbers_bounded
PADDED = rf"(?:[0-9]{{6}}|[1-9][0-9]{{6,{_MOST_DIGITS - 1}}})"  # guard: padded_numbers_bounded


def following(number: int, where: str) -> int:
    """Return the next number.

    Args:
        where: the directory, for the message.

    Raises:
        Refusal: NUMBER_TOO_HIGH, there is none.
    """
    if number >= _MOST:  # guard: last_number
        raise Refusal(
            RefusalCode.NUMBER_TOO_HIGH,
            f"a file or directory in {where} has the number {number} in its name, which no job reaches: there is no"
            " next one. Find out who has put it there, and move it away",
        )
    return number + 1
