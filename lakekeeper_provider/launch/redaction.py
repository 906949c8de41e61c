"""Mask credentials in what others may see: the words of a command, and lines of a log or a report.

A name says what is a credential, as for Spark (``spark.redaction.regex``); a URI is known by its form. More is masked
than has to be: a masked path costs a question, a password that is sent to a stranger costs a new one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakekeeper_provider.launch.report_line import MASK, NONCE_FLAG

#: Flags whose values no log shows.
_HIDDEN = ("--keytab", "--principal", NONCE_FLAG)
#: A longer line says no more to a person, and the patterns below would take their time for it.
_LONGEST = 2_000

#: What the name of a credential has in it.
_NAME = (
    r"(?:secret|passw(?:or)?[dt]|passphrase|passcode|pass(?![a-z])|pwd|token|credential|signature|delegation"
    r"|(?<![a-z])sig(?![a-z])|azure[._]sas|(?:access|account|api|private|shared|client|storage|encryption|license)"
    r"[._-]?key|encryption[\w.-]*[._-]key)"
)
_REST_OF_NAME = r"[\w.-]{0,100}"
#: What may stand between a name and its value: in a file of properties, JSON in JSON, XML, a query, a map of Scala.
_QUOTES = r"(?:\\[nrt\"']|[\s\"'])*"
_SEPARATOR = rf"{_QUOTES}(?:[:=]|->|%3D|</name>\s*<value>|(?<=[\"']),|,(?=\S)){_QUOTES}"
#: Names that Spark masks, and those of other credentials. As in Spark, a name counts in a value too:
#: `-Djavax.net.ssl.trustStorePassword=...` in Java's options, `password=` in a URL.
_OF_COMMAND = re.compile(
    rf"{_NAME}|keytab|principal"
    # The name of a variable of the environment says nothing of its value.
    r"|(appmaster|executor|driver)env\.",
    re.IGNORECASE,
)
_TO_THE_END = re.compile(
    "("
    + "|".join(
        (
            rf"{_NAME}{_REST_OF_NAME}{_SEPARATOR}",
            rf"(?<!\w)--?[\w.-]{{0,50}}{_NAME}{_REST_OF_NAME}\s+",
            rf"{_NAME}{_REST_OF_NAME}\s+(?=['\"])",
            r"(?:cookie|authorization)[\"']?\s*[:=]\s*",
            r"\b(?:bearer|basic|negotiate)\s+(?=[\w+/=.~-]{8})",
            # Their short flags are passwords.
            r"\b(?:beeline|sqlline|curl|mysql|ldapsearch)\s+(?=-)",
        )
    )
    + ").+",
    re.IGNORECASE,
)
#: A container of Azure's storage stands where others have an account.
_URI = re.compile(r"(?<!abfs)(?<!abfss)(?<!wasb)(?<!wasbs)(://)[^\s\"'<>]*@|(://)[^\s\"'<>/@]*:[^\s\"'<>]*@")
#: Oracle's drivers have `account/password@` without a scheme, others `account:password@`.
_ACCOUNT = re.compile(
    r"(jdbc:oracle:\w{1,20}:)[^\s\"'<>]+@|(?<![\w/:.+-])[\w.+-]{1,100}:[^\s\"'<>@/][^\s\"'<>@]*@"
)
_JWT = re.compile(r"\beyJ[\w-]{8,}\.[\w.-]+")


def redacted(command: Sequence[str]) -> list[str]:
    """Return the command for a log: without secret Spark properties, keytab, principal, and the report's nonce."""
    # guard: commands_shown_safely
    return [
        MASK if flag in _HIDDEN else _without_credentials(word) for flag, word in zip(["", *command], command)
    ]


def redacted_text(text: str) -> str:
    """Return the beginning of a line, without what follows the name of a credential, and without accounts in URIs."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... ({len(text)} characters)"
    return _TO_THE_END.sub(rf"\1{MASK}", _JWT.sub(MASK, _without_accounts(shown)))


def _without_accounts(text: str) -> str:
    masked = _URI.sub(lambda found: f"{found[1] or found[2]}{MASK}@", text)
    return _ACCOUNT.sub(lambda found: f"{found[1] or ''}{MASK}@", masked)


def _without_credentials(word: str) -> str:
    """Mask accounts in URIs, and all that follows the first ``=`` behind the name of a credential."""
    name = _OF_COMMAND.search(word)
    end = word.find("=", name.end()) + 1 if name else 0
    return _without_accounts(f"{word[:end]}{MASK}" if end else word)
