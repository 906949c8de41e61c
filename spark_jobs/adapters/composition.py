"""The composition root: the only module that puts the protocol and its adapters together."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.java_errors import is_java_error, message_of, with_cause
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.adapters.native.registry import native_formats
from spark_jobs.adapters.sources import sources_digest
from spark_jobs.adapters.spark.application import application_page, show_warnings_only
from spark_jobs.adapters.spark.fair_rewriter import FairRewriter, scheduler_settings
from spark_jobs.adapters.spark.formats.registry import FooterReader, spark_formats
from spark_jobs.adapters.spark.java_classes import cache_java_classes
from spark_jobs.adapters.spark.java_connections import send_answers_at_once
from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.adapters.spark.sessions import beside
from spark_jobs.adapters.spark.surroundings import SparkSurroundings
from spark_jobs.core.messages.errors import SparkNotStarted, in_one_line
from spark_jobs.core.rules.eligibility import READING_SETTINGS
from spark_jobs.core.values.other_writers import STAGING_SETTING, staging_names
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.measuring.phases import Phases
from spark_jobs.protocol.services import Services


def start_spark(app_name: str) -> SparkSession:
    """Start a Spark session with the Hive metastore, or return the one that is active.

    Raises:
        SparkNotStarted: with the first cause.
    """
    builder = SparkSession.builder.appName(app_name).enableHiveSupport()
    for key, value in scheduler_settings().items():
        builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        why = with_cause(message_of(error), error) if is_java_error(error) else in_one_line(error)
        raise SparkNotStarted(f"Spark does not start: {why}") from error
    make_calls_cheap(spark)
    show_warnings_only(spark)
    return spark


def live_services(spark: SparkSession) -> Services:
    """Return the services of a driver for a call from its own program, whose session stays as it is.

    Raises:
        UsageError: the session cannot do what a job needs.
    """
    session = beside(spark)
    make_calls_cheap(session)
    return spark_services(session)


def tracking_url(spark: SparkSession) -> str | None:
    """Return the URL of the application's page in YARN's ResourceManager; None if there is none."""
    return application_page(spark)


def surroundings(spark: SparkSession) -> SparkSurroundings:
    """Return what the verb `doctor` asks of a driver, besides its services."""
    return SparkSurroundings(spark)


def make_calls_cheap(spark: SparkSession) -> None:
    """Spare a driver's calls to its JVM the look-ups of classes and the delay of long answers."""
    cache_java_classes(spark._jvm)
    send_answers_at_once(spark.sparkContext._gateway)


def spark_services(spark: SparkSession) -> Services:
    """Return the services of a driver, by its Hadoop configuration and its metastore."""
    calls, phases = NameNodeCalls(), Phases()
    fs, formats = HadoopFileSystem(spark, calls), spark_formats(spark, calls)
    return Services(
        fs,
        Metastore(spark, fs),
        FooterReader(formats),
        FairRewriter(spark, Rewriter(spark, formats, phases, calls)),
        phases=phases,
        environment=f"jobs {sources_digest()}, Spark {spark.version}",
        staging=staging_names(
            [spark._jsc.hadoopConfiguration().get(STAGING_SETTING), spark.conf.get(STAGING_SETTING, None)]
        ),
        reading=_reading_settings(spark),
        calls=calls,
        native=native_formats(spark),
    )


def _reading_settings(spark: SparkSession) -> dict[str, str]:
    """Return the settings of the cluster by which readers match columns, divide text into rows and leave out files.

    `getRaw`: no variable in a value is replaced.
    """
    conf = spark._jsc.hadoopConfiguration()
    settings = {name: conf.getRaw(name) for name in READING_SETTINGS}
    return {name: str(value) for name, value in settings.items() if value is not None}
