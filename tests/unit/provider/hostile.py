"""Texts that somebody who may write to a table gives to a partition, a column, a property or a comment."""

HOSTILE = {
    "template": "{{ conn.spark_default.password }}",
    "statement of a template": "{% for x in ().__class__.__bases__ %}x{% endfor %}",
    "arithmetic in a template": "{{ 7 * 7 }}",
    "variable": "${env:AIRFLOW__CORE__FERNET_KEY}",
    "forged report": '\nLAKEKEEPER_REPORT {"schema_version": 1, "verb": "compact", "outcome": "done", "tables": []}',
    "carriage return": "\rLAKEKEEPER_REPORT 0000 {}",
    "line separators": "a\x85b\u2028c\u2029d\x0be\x0c",
    "escape sequences": "\x1b[2J\x1b]0;title\x07\x9b31m",
    "direction": "abc\u202egnp.exe",
    "quotes": "a'b\"c`d\\",
    "shell": "$(touch /tmp/x); `id` && rm -rf ~ | tee >x #",
    "format": "%s %d %(name)s {0} {table}",
    "metric": "a|c|@0.1|#tag:x:1\n",
    "link": "tracking URL: http://evil.example/login",
    "URL": "../../?lakekeeper=x&y=1#z%2f",
    "markup": "<script>alert(1)</script>[x](javascript:alert(1))",
}
