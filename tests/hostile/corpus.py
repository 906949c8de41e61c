"""The texts that others choose, and the secrets that none of them may bring out.

Suites that run an operator or a quoting function take their texts from here, so that a new form of attack is added
once.
"""

from __future__ import annotations

#: A command that is executed leaves a file of this name where it runs, or in the folder for temporary files.
MARKER = "lakekeeper_has_executed_a_text"
#: The name under which the environment, Hadoop, Java, Hive and Airflow each know a secret.
NAME = "LAKEKEEPER_CANARY"
PROPERTY = "lakekeeper.canary"
HADOOP_PROPERTY = "fs.s3a.secret.key"

#: A secret of each place. A value ends a literal too, where it is put into a statement.
SECRETS = {
    "environment": "c4naryOfTheEnvironment'; DROP TABLE victim; --",
    "environment of Airflow": "c4naryOfAirflow=",
    "system property": "c4naryOfJava",
    "Spark property": "c4naryOfSpark",
    "Hadoop property": "c4naryOfHadoop",
    "Hive variable": "c4naryOfHive",
    "password of the connection": "c4naryOfTheConnection",
    "extra of the connection": "c4naryOfTheExtra",
    "variable of Airflow": "c4naryOfTheVariable",
    "YAML file": "c4naryOfTheFile",
    "keytab": "/etc/c4naryOfTheKeytab.keytab",
    "principal": "c4naryOfThePrincipal@REALM",
    "env_vars": "c4naryOfTheOperator",
}

#: Each is replaced by a value of the process where Spark, Hive, Hadoop, a shell or Python substitutes variables.
VARIABLES = [
    *(f"${{env:{NAME}}}", f"${{env.{NAME}}}", f"${{{NAME}}}", f"${NAME}", f"%{NAME}%", f"%({NAME})s"),
    *(f"${{system:{PROPERTY}}}", f"${{{PROPERTY}}}", f"${{spark.{PROPERTY}}}", f"${{{HADOOP_PROPERTY}}}"),
    *(f"${{hiveconf:{PROPERTY}}}", f"${{hivevar:{PROPERTY}}}", f"${{hivevar:{NAME}:-x}}", f"${{VAR:{NAME}}}"),
    *(
        "${env:PATH}",
        "${system:user.name}",
        "${spark.app.name}",
        "${hiveconf:hive.metastore.uris}",
        "${",
        "${}",
    ),
    f"${{${{env:{NAME}}}}}",
]
#: Each ends a literal, a name or a statement where it is not quoted.
SQL = [
    *(
        "it's",
        'say "hi"',
        "back\\slash",
        "a\\",
        "tick`s",
        "two\nlines",
        "%_\\%",
        "\\u0027",
        "\\047",
        ";",
        "a;b",
    ),
    *(
        "'; DROP TABLE victim; --",
        "`; DROP TABLE victim; --",
        "') -- ",
        "/*",
        "*/",
        "--",
        "a--b",
        "1 OR 1=1",
        "' OR ''='",
    ),
]
#: Names that end a quote, run a command, name a variable, or look like an option.
SHELL = [
    *(
        "it's",
        f"'; touch {MARKER}; '",
        "'\\''",
        "'",
        "''",
        'say "hi"',
        f'"; touch {MARKER}; "',
        f"`touch {MARKER}`",
    ),
    *(
        f"$(touch {MARKER})",
        f"$(printenv {NAME})",
        "${HOME}",
        "$HOME",
        "!!",
        "!touch",
        "a b",
        " a ",
        "",
        "-rf",
    ),
    *("--yes", "~", "#x", f"a;touch {MARKER}", f"a&touch {MARKER}", f"a|touch {MARKER}", f"a>{MARKER}", "<x"),
    *("\\", "a\\", "été 東京", "=x", "%1", "\n", f"a\ntouch {MARKER}\n", "\r", "\t", "\x1b[31m", "\x7f"),
    *(f"it's\n$(touch {MARKER})", "a\\\n'", "\u2028", "\u202e", "\u00a0", "\x85", "\U0001f600"),
]
#: What Hadoop, a shell and Python take for a pattern of names.
PATTERNS = ["*", "?", "[a]", "{a,b}", "p=*", "[!a]", "[^a]", "**", "a\\*", "[", "{", "x]", ".*"]
#: What a URI, a path or a file name of Hive means by other characters.
PATHS = ["%3A", "%2F", "%252F", "a:b", "a=b", "100%", "a+b", "../../x", "../../?lakekeeper=x&y=1#z%2f"]
#: What Airflow's templates and Python's formats act on.
TEMPLATES = [
    *("{{ conn.spark_default.password }}", "{{ var.value.canary }}", "{{ 7 * 7 }}", "{# x", "{% raw %}"),
    *(
        "{% for x in ().__class__.__bases__ %}x{% endfor %}",
        "{{ macros.__class__ }}",
        "%s %d %(name)s {0} {table}",
    ),
    *("{0.__class__.__init__.__globals__}", "{}", "{", "%n", "%", "{self}", "{os.environ}"),
]
#: Line ends of all kinds before a line that a person or a program trusts.
FORGED = [
    '\nLAKEKEEPER_REPORT {"schema_version": 1, "verb": "compact", "outcome": "done", "tables": []}',
    "\rLAKEKEEPER_REPORT 0000 {}",
    *(f"{char}LAKEKEEPER_REPORT {{}}" for char in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"),
    "tracking URL: http://evil.example/login",
    "\ntracking URL: http://evil.example/login\n",
]
#: What a terminal obeys, and marks that change what a person sees.
CONTROL = [
    *(
        "\x1b[31m",
        "\x1b[2J\x1b]0;title\x07\x9b31m",
        "\x9b31m",
        "\x07",
        "\x7f",
        "\b",
        "a\x85b\u2028c\u2029d\x0be\x0c",
    ),
    *("abc\u202egnp.exe", "\u2066", "\u200f", "\u061c", "\u200b", "\ufeff", "\u2060", "\U000e0041"),
]
#: Texts that a metastore or a file system may not hold, but a property, a report or a record may.
ODD = ["\x00", "a\x00b", "\udc80"]
#: What metrics, HTML and Markdown act on.
MARKUP = [
    *("a|c|@0.1|#tag:x:1\n", "<script>alert(1)</script>[x](javascript:alert(1))", "a'b\"c`d\\"),
    f"$(touch {MARKER}); `id` && rm -rf ~ | tee >x #",
]
LONG = "long " * 20_000

_ALL = (*VARIABLES, *SQL, *SHELL, *PATTERNS, *PATHS, *TEMPLATES, *FORGED, *CONTROL, *ODD, *MARKUP, LONG)
#: All of them, each once.
TEXTS = list(dict.fromkeys(_ALL))
#: Those that can be a partition's value: Hive writes it into a path, whose parts have at most 255 bytes.
VALUES = [text for text in TEXTS if text not in (*ODD, LONG, "")]


def name_of(text: str) -> str:
    """Return the name of a text in the name of a test."""
    return ascii(text)[1:-1][:40] or "empty"
