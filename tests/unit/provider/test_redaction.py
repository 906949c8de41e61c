"""What others may see has no credentials."""

from __future__ import annotations

import pytest

from lakekeeper_provider.launch.redaction import redacted, redacted_text


@pytest.mark.parametrize(
    "words",
    [
        ["--conf", "spark.hadoop.fs.s3a.secret.key=hunter2"],
        ["--conf", "spark.ssl.keyPassword=hunter2"],
        ["--conf", "spark.hadoop.dfs.adls.oauth2.credential=hunter2"],
        ["--conf", "spark.hadoop.fs.azure.sas.c.a.blob.core.windows.net=hunter2"],
        ["--conf", "spark.executorEnv.DB_PWD=hunter2"],
        # A credential in a value: Spark's own page and log mask these too.
        ["--conf", "spark.driver.extraJavaOptions=-Da=b -Djavax.net.ssl.trustStorePassword=hunter2"],
        ["--conf", "spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:mysql://h/db?user=u&password=hunter2"],
        ["--conf=spark.ssl.keyPassword=hunter2"],
        ["--driver-java-options", "-Da=b -Djavax.net.ssl.trustStorePassword=hunter2"],
        # A URI with one.
        ["--repositories", "https://etl:hunter2@nexus/maven,https://other/"],
        ["--conf", "spark.jars.repositories=https://etl:hunter2@nexus/"],
        ["--report-nonce", "hunter2"],
        ["--keytab", "hunter2"],
        ["--conf", "spark.executor.db.pass=hunter2"],
        ["--conf", "spark.io.encryption.key=hunter2"],
        ["--conf", "spark.x=https://a.blob.core.windows.net/c?sv=2022&sig=hunter2"],
        ["--conf", "spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:oracle:thin:hive/hunter2@//db:1521/svc"],
    ],
    ids=lambda words: words[-1][:60],
)
def test_no_credential_of_a_command_is_shown(words):
    shown = redacted(["spark-submit", *words, "job.py"])
    assert "hunter2" not in " ".join(shown)
    assert (shown[0], shown[-1], len(shown)) == ("spark-submit", "job.py", len(words) + 2)


def test_what_is_no_credential_is_shown():
    command = ["spark-submit", "--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.yarn.queue=etl"]
    command += [
        "--jars",
        "hdfs://nn:8020/token.jar",
        "job.py",
        "--table",
        "secrets.tokens",
        "--where",
        "d > 1",
    ]
    assert redacted(command) == command


@pytest.mark.parametrize(
    "text",
    [
        "password = hunter2",
        '{"password": "hunter2"}',
        r"{\"password\":\"hunter2\"}",
        "fs.s3a.secret.key=hunter2 hunter2",
        "fs.s3a.encryption.key=hunter2",
        "fs.s3a.server-side-encryption.key: hunter2",
        "spark.io.encryption.key=hunter2",
        "Authorization: Bearer hunter2",
        "Cookie: hadoop.auth=hunter2",
        "sent Basic hunter2hunter2",
        "Negotiate hunter2hunter2",
        "webhdfs://nn/?delegation=hunter2",
        "storage_access_key: hunter2",
        "SharedKey=hunter2",
        "client_key=hunter2",
        "DB_PASS=hunter2",
        "SSHPASS=hunter2",
        "ldap.bindpass=hunter2",
        "passcode=hunter2",
        "Passwort=hunter2",
        "(spark.hadoop.fs.s3a.session.token,hunter2)",
        "spark.session.token -> hunter2",
        "password 'hunter2'",
        "a?password%3Dhunter2",
        r"password\n=hunter2",
        '{"name": "javax.jdo.option.ConnectionPassword", "value": "hunter2"}',
        "<name>fs.s3a.secret.key</name><value>hunter2</value>",
        "--password hunter2",
        "keytool -storepass hunter2",
        "beeline -u jdbc:hive2://h -n etl -p hunter2",
        "curl -u etl:hunter2 http://h",
        "https://a.blob.core.windows.net/c?sv=2022&sig=hunter2",
        "jdbc:postgresql://etl:hunter2@db/hive",
        "No suitable driver found for jdbc:oracle:thin:hive/hunter2@//127.0.0.1:1/svc",
        "http://etl:p@hunter2@proxy:3128",
        "s3a://AKIA123:wJalr/hunter2@bucket/x",
        "https://hunter2@github.com/a",
        "hive_server: expected host:port of HiveServer2, got 'etl:hunter2@hs2:10000'",
        "eyJhbGciOiJIUzI1NiJ9.hunter2.hunter2",
    ],
)
def test_no_credential_of_a_text_is_shown(text):
    for shown in (redacted_text(text), redacted_text(f"Error: {text}")):
        assert "hunter2" not in shown
        assert "******" in shown


@pytest.mark.parametrize(
    "text",
    [
        "Default principal: etl@EXAMPLE.COM, until 11/28/2026 07:00:00",
        "abfss://container@account.dfs.core.windows.net/t",
        "hdfs://nn:8020/sales/events: no rights for etl (drwxr-x---)",
        "there is no ticket, and core-site.xml asks for Kerberos",
        "Run kinit, or set keytab and principal in spark_submit; in Airflow, `airflow kerberos` renews a ticket",
        "unknown key 'blok_size_mb' (did you mean 'block_size_mb'?)",
        "Spark 3.5.6 (/opt/spark), Java 17.0.9, Python 3.11.2; master yarn, deploy mode client",
        "a partition key=1 of 3",
        "it passes: yes",
    ],
)
def test_a_text_without_a_credential_stays_as_it_is(text):
    assert redacted_text(text) == text


@pytest.mark.parametrize("part", ["x", "token", "x:y@", "-p "])
def test_a_long_line_is_cut(part):
    """Before: 100 KB without an end of line kept the command busy for a minute, and 200 MB went into the report."""
    shown = redacted_text(part * 100_000)
    assert len(shown) < 5_000
    assert redacted_text("x" * 3_000).endswith(" ... (3000 characters)")
