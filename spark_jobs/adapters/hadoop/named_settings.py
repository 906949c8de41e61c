"""Names the setting that has a value which Hadoop could not use: Hadoop's own errors have only the value."""

from __future__ import annotations

import json
import re
from typing import Any

from pyspark import SparkContext

#: How Java's errors quote a value that is no number, a class that is missing or cannot be created, and a server.
_QUOTED = re.compile(
    r'For input string: "(?P<text>[^"]+)"|[Cc]lass (?P<missing>[\w.$-]+) not found'
    r"|NoSuchMethodException: (?P<bare>[\w.$]+)\.<init>|UnknownHostException: (?P<host>\S+)"
)
#: Where a setting comes from that nobody has set.
_DEFAULTS = re.compile(r"\w+-default\.xml\Z")
_MOST = 10


def with_setting(message: str) -> str:
    """Return a message of Java with the names of the settings that have the value which it quotes.

    With more than ten of them, or without a driver, the message stays as it is.
    """
    quoted, context = _QUOTED.search(message), SparkContext._active_spark_context
    if not quoted or context is None:
        return message
    names = _settings_with(quoted[str(quoted.lastgroup)], context)
    return f"{message} (settings with this value: {', '.join(names)})" if 0 < len(names) <= _MOST else message


def _settings_with(value: str, context: Any) -> list[str]:
    writer = context._jvm.java.io.StringWriter()
    conf: Any = context._jsc.hadoopConfiguration()
    context._jvm.org.apache.hadoop.conf.Configuration.dumpConfiguration(conf, writer)
    of_hadoop = {
        each["key"]
        for each in json.loads(str(writer.toString()))["properties"]
        if each["value"].strip() == value and not _DEFAULTS.match(each["resource"])
    }
    of_spark = {name for name, text in context._conf.getAll() if text.strip() == value}
    return sorted(of_hadoop | of_spark)
